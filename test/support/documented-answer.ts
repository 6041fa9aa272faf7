import type { RouterRoute } from 'hono/types';
import * as z from 'zod';
import type { RouteDescription } from '../../src/api/describe-route.ts';
import { errorCodesOf, listOperations, type Operation } from '../../src/api/openapi-document.ts';
import { errorBody } from '../../src/api/schemas.ts';
import { ERROR_STATUS } from '../../src/errors.ts';

/** The operation of a request, as the document of the routes has it. */
export function findOperation(routes: readonly RouterRoute[], method: string, path: string): Operation | undefined {
  const pathname = path.replace(/[?#].*$/s, '');
  const fits = (template: string): boolean =>
    new RegExp(`^${template.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{\w+\}/g, '[^/]+')}$`, 's').test(pathname);
  const found = listOperations(routes).filter((operation) => operation.method === method.toLowerCase() && fits(operation.path));
  // A path that is spelled out is meant before one with a parameter.
  return found.sort((left, right) => left.path.split('{').length - right.path.split('{').length)[0];
}

function schemaOf({ route, description }: Operation, status: number): z.ZodType | undefined {
  const answer: RouteDescription['answers'][number] | undefined = description.answers[status];
  if (answer !== undefined) return 'content' in answer ? answer.content['application/json'] : answer;
  const isKnown = errorCodesOf(route, description).some((code) => ERROR_STATUS[code] === status);
  return isKnown ? (description.errorBody ?? errorBody) : undefined;
}

/** Throws an Error unless the document says that the operation may answer so. What is no operation may answer anything. */
export function assertDocumented(routes: readonly RouterRoute[], method: string, path: string, status: number, body: unknown): void {
  const operation = findOperation(routes, method, path);
  if (operation === undefined) return;
  const what = `${method} ${operation.path} answered ${status} ${JSON.stringify(body).slice(0, 500)}`;
  const schema = schemaOf(operation, status);
  if (schema === undefined) throw new Error(`${what}, which its description does not know`);
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new Error(`${what}, which is not what its description says:\n${z.prettifyError(parsed.error)}`);
  const code = (body as { code?: unknown }).code;
  const codes: unknown[] = errorCodesOf(operation.route, operation.description);
  if (schema === errorBody && !codes.includes(code)) throw new Error(`${what}: its description does not name this code`);
}
