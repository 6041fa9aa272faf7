import { Hono } from 'hono';
import type { RouterRoute } from 'hono/types';
import * as z from 'zod';
import type { AppEnv } from './app-env.ts';
import { describeRoute } from './describe-route.ts';
import type { OpenApiDocument } from './openapi-document.ts';

const describe = {
  document: describeRoute({
    tag: 'Service',
    summary: 'This document',
    answers: { 200: z.looseObject({ openapi: z.string() }) },
  }),
  page: describeRoute({
    tag: 'Service',
    summary: 'This document as a page to read',
    answers: { 200: { content: { 'text/html': undefined } } },
  }),
};

/** The document of an app's routes, made on the first request for it; the code for it is loaded then, too. */
export function openApi(routes: () => readonly RouterRoute[]): Hono<AppEnv> {
  let made: OpenApiDocument | undefined;
  const document = async (): Promise<OpenApiDocument> => {
    const { createOpenApiDocument } = await import('./openapi-document.ts');
    made ??= createOpenApiDocument(routes());
    return made;
  };
  return new Hono<AppEnv>()
    .get('/openapi.json', describe.document, async (c) => c.json(await document()))
    .get('/docs', describe.page, async (c) => {
      const { contentSecurityPolicy, renderDocsPage } = await import('./docs-page.ts');
      const page = renderDocsPage(await document());
      return c.html(page, 200, {
        'content-security-policy': await contentSecurityPolicy(),
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      });
    });
}
