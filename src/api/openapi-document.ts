import type { RouterRoute } from 'hono/types';
import * as z from 'zod';
import {
  createDocument,
  type oas31,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
  type ZodOpenApiResponseObject,
} from 'zod-openapi';
import { ERROR_STATUS, type ErrorCode } from '../errors.ts';
import { VERSION } from '../version.ts';
import { type Answer, type DescribedRoute, describedRoutes, type RouteDescription, TAGS } from './describe-route.ts';
import type { Demand } from './principal.ts';
import { errorBody } from './schemas.ts';

export type OpenApiDocument = oas31.OpenAPIObject;

/** Places of an API key, each a scheme of its own, since any of them will do. */
const KEY_SCHEMES = ['apiKeyBearer', 'apiKeyHeader', 'googleApiKeyHeader', 'apiKeyQuery'];

const SECURITY_SCHEMES = {
  managementToken: { type: 'http', scheme: 'bearer', description: 'The gateway’s `MANAGEMENT_TOKEN`; it may do everything.' },
  apiKeyBearer: { type: 'http', scheme: 'bearer', description: 'An API key, `omr_…`, as the SDKs of OpenAI send it.' },
  apiKeyHeader: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'An API key, as the SDKs of Anthropic send it.' },
  googleApiKeyHeader: { type: 'apiKey', in: 'header', name: 'x-goog-api-key', description: 'An API key, as the SDKs of Google send it.' },
  apiKeyQuery: { type: 'apiKey', in: 'query', name: 'key', description: 'An API key in the URL.' },
} as const;

const INTRODUCTION = `The REST API of an LLM gateway that gives models skills, and the endpoints through which SDKs of OpenAI, Anthropic and Google ask models.

An API key has scopes; the operations name the one they need. Management means the gateway's \`MANAGEMENT_TOKEN\` or a key with the scope \`manage\`, and may do everything. Of what belongs to another key a key sees nothing.

Lists are \`{data, total, page, limit, totalPages}\`. Errors are \`{error, code, details?}\`; those of the gateway's endpoints have their provider's own shape. Every answer has an \`x-omniroute-request-id\`.`;

const describeDemand = (demand: Demand): string =>
  demand === 'management' ? 'Needs the management.' : `Needs an API key with the scope \`${demand}\`, or the management.`;

/** Role names of schemes that are not OAuth are for readers (OpenAPI 3.1, Security Requirement Object). */
function securityOf(demand: Demand | undefined): Record<string, string[]>[] {
  if (demand === undefined) return [];
  const scope = demand === 'management' ? 'manage' : demand;
  return [{ managementToken: [] }, ...KEY_SCHEMES.map((scheme) => ({ [scheme]: [scope] }))];
}

/** The codes that a route answers with for what its handlers check, and its own. */
export function errorCodesOf({ demand, query, body }: DescribedRoute, { errors = [], body: readBody }: RouteDescription): ErrorCode[] {
  const codes: ErrorCode[] = [...errors];
  if (demand !== undefined) codes.push('unauthorized', 'forbidden', 'rate_limited', 'database_unavailable', 'internal_error');
  if (demand === 'management') codes.push('management_not_configured');
  if (query ?? body ?? readBody) codes.push('invalid_request');
  if (body ?? readBody) codes.push('invalid_json', 'payload_too_large');
  return [...new Set(codes)];
}

const isAnswer = (answer: z.ZodType | Answer): answer is Answer => 'content' in answer;

function responseOf(answer: z.ZodType | Answer): ZodOpenApiResponseObject {
  const { description = 'Success', content } = isAnswer(answer) ? answer : { content: { 'application/json': answer } };
  const media = Object.entries(content).map(([type, schema]) => [type, { schema: schema ?? z.string() }]);
  return { description, content: Object.fromEntries(media) };
}

function responsesOf(route: DescribedRoute, description: RouteDescription): Record<string, ZodOpenApiResponseObject> {
  const responses: Record<string, ZodOpenApiResponseObject> = {};
  const codes = errorCodesOf(route, description);
  for (const status of new Set(codes.map((code) => ERROR_STATUS[code]))) {
    const named = codes.filter((code) => ERROR_STATUS[code] === status).map((code) => `\`${code}\``);
    const headers = status === 429 && { 'retry-after': { description: 'Seconds to wait.', schema: { type: 'integer' as const } } };
    responses[status] = {
      description: named.join(', '),
      content: { 'application/json': { schema: description.errorBody ?? errorBody } },
      ...(headers && { headers }),
    };
  }
  for (const [status, answer] of Object.entries(description.answers)) responses[status] = responseOf(answer);
  return responses;
}

/** `/api/skills/:id` as the document writes it. */
const pathOf = (path: string, wildcard: string | undefined): string =>
  path.replace(/\/\*$/, `/${wildcard ?? '{path}'}`).replaceAll(/\/:(\w+)/g, '/{$1}');

const operationIdOf = (method: string, path: string): string => `${method}${path.replaceAll(/[^A-Za-z0-9]+/g, '_')}`.replace(/_$/, '');

export interface Operation {
  method: string;
  path: string;
  route: DescribedRoute;
  description: RouteDescription;
}

/** Every operation that the routes of an app describe. */
export const listOperations = (routes: readonly RouterRoute[]): Operation[] =>
  describedRoutes(routes).flatMap((route) =>
    (route.descriptions ?? []).map((description) => ({
      method: route.method,
      path: pathOf(route.path, description.wildcard),
      route,
      description,
    })),
  );

function operationObject({ method, path, route, description }: Operation): ZodOpenApiOperationObject {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  const params = z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
  const query = (route.query ?? description.query) as z.ZodObject | undefined;
  const body = route.body ?? description.body;
  return {
    operationId: operationIdOf(method, path),
    tags: [description.tag],
    summary: description.summary,
    description: [description.description, route.demand && describeDemand(route.demand)].filter(Boolean).join('\n\n'),
    security: securityOf(route.demand),
    requestParams: {
      ...(names.length > 0 && { path: params }),
      ...(query && { query }),
      ...(description.headers && { header: description.headers }),
    },
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: responsesOf(route, description),
  };
}

/** What is true of every integer that JSON can carry, of every time and of every name in an object. */
function leaveOutTheObvious(schema: Record<string, unknown>): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.format === 'date-time') delete schema.pattern;
  if (isAnyName(schema.propertyNames)) delete schema.propertyNames;
}

const isAnyName = (names: unknown): boolean => JSON.stringify(names) === '{"type":"string"}';

/** The OpenAPI 3.1 document of an app's routes. https://spec.openapis.org/oas/v3.1.1.html */
export function createOpenApiDocument(routes: readonly RouterRoute[]): OpenApiDocument {
  const paths: ZodOpenApiPathsObject = {};
  for (const operation of listOperations(routes)) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: operationObject(operation) };
  }
  const document: ZodOpenApiObject = {
    openapi: '3.1.1',
    info: { title: 'OmniRoute Edge', version: VERSION, description: INTRODUCTION, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: { securitySchemes: SECURITY_SCHEMES },
  };
  return createDocument(document, { override: ({ jsonSchema }) => leaveOutTheObvious(jsonSchema) }) as OpenApiDocument;
}
