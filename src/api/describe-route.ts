import type { MiddlewareHandler } from 'hono';
import type { RouterRoute } from 'hono/types';
import { findTargetHandler } from 'hono/utils/handler';
import type * as z from 'zod';
import type { ErrorCode } from '../errors.ts';
import type { AppEnv } from './app-env.ts';
import type { Demand } from './principal.ts';

/** What the endpoints are about, in the order in which the document lists them. */
export const TAGS = {
  Gateway: 'What the SDKs of OpenAI, Anthropic and Google send. Bodies are theirs; what is not known here goes to the provider as it is.',
  Skills: 'The skills that models are offered.',
  Handlers: 'What runs custom skills: webhooks, and functions of the release.',
  Executions: 'Runs of skills, by models and by hand.',
  Approvals: 'Calls of `hybrid` skills that wait for a person.',
  Marketplaces: 'Where skills are installed from.',
  Management: 'Settings and API keys.',
  'Agent Skills': 'Texts, each a SKILL.md, that teach agents outside how to use this product.',
  Service: 'The gateway about itself.',
} as const;
export type Tag = keyof typeof TAGS;

/** An answer that is not JSON alone: schemas by media type; text without one. */
export interface Answer {
  description?: string;
  content: Record<string, z.ZodType | undefined>;
}

/** One operation, as far as the handlers of its route do not show it by what they check. */
export interface RouteDescription {
  tag: Tag;
  /** A line without a full stop. */
  summary: string;
  /** CommonMark. */
  description?: string;
  /** What a success answers, by status: the schema of its JSON. */
  answers: Record<number, z.ZodType | Answer>;
  /** Codes of the errors of this route alone: those of authentication, of checked bodies and of the database are known. */
  errors?: readonly ErrorCode[];
  /** The shape of its errors, when it is not ours. */
  errorBody?: z.ZodType;
  /** What is read without a schema being checked. */
  body?: z.ZodType;
  query?: z.ZodObject;
  headers?: z.ZodObject;
  /** Stands in the document for the `*` at the end of the route's path. */
  wildcard?: string;
}

/** What one handler of a route tells the document. */
export interface RoutePart {
  demand?: Demand;
  /** Checked by their schemas. */
  query?: z.ZodType;
  body?: z.ZodType;
  /** Several, where one route has the operations of several paths. */
  descriptions?: readonly RouteDescription[];
}

const PART = Symbol('route part');

const partOf = (handler: object): RoutePart => (handler as { [PART]?: RoutePart })[PART] ?? {};

/** Makes a handler tell the document of its part of a route, besides what it tells already. */
export const annotate = <Handler extends object>(handler: Handler, part: RoutePart): Handler =>
  Object.assign(handler, { [PART]: { ...partOf(handler), ...part } });

/** Describes a route for `/openapi.json` and `/docs`: stands among its handlers and does nothing. */
export const describeRoute = (description: RouteDescription): MiddlewareHandler<AppEnv> =>
  annotate((_, next) => next(), { descriptions: [description] });

export interface DescribedRoute extends RoutePart {
  /** In lower case. */
  method: string;
  /** As hono writes it: `/api/skills/:id`. */
  path: string;
}

/** The routes of an app, each once, with what its handlers tell. Middleware of all methods is none. */
export function describedRoutes(routes: readonly RouterRoute[]): DescribedRoute[] {
  const found = new Map<string, DescribedRoute>();
  for (const { method, path, handler } of routes) {
    if (method === 'ALL') continue;
    const key = `${method} ${path}`;
    found.set(key, { method: method.toLowerCase(), path, ...found.get(key), ...partOf(findTargetHandler(handler)) });
  }
  return [...found.values()];
}
