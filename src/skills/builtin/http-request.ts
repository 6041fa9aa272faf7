import * as z from 'zod';
import { readText, type TextBody } from '../../net/read-text.ts';
import { defineSkill, SkillError } from '../define.ts';
import { incomingHeaders, outgoingHeaders } from './http-headers.ts';
import { choice, missing } from './input-fields.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_TIMEOUT_MS = 60_000;
const EMPTY_BODY: TextBody = { body: '', bodyEncoding: 'utf8', truncated: false };

type Body = string | Record<string, unknown> | undefined;

function headersOf(fields: Record<string, string>, body: Body): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    try {
      headers.append(name, value);
    } catch {
      throw new SkillError(`headers.${name}: Invalid header`);
    }
  }
  if (typeof body === 'object' && !headers.has('content-type')) headers.set('content-type', 'application/json');
  // Some public interfaces refuse requests that do not name their client.
  if (!headers.has('user-agent')) headers.set('user-agent', 'omniroute-edge');
  return outgoingHeaders(headers);
}

/** The body to send; GET and HEAD have none. */
function bodyOf(method: string, body: Body): string | null {
  if (body === undefined || method === 'GET' || method === 'HEAD') return null;
  return typeof body === 'string' ? body : JSON.stringify(body);
}

export const httpRequest = defineSkill({
  name: 'http_request',
  version: '1.0.0',
  description: 'Send an HTTP request to a public URL and return its status, headers and body. Redirects are not followed.',
  tags: ['http', 'api', 'fetch', 'url'],
  mode: 'on',
  policy: 'auto',
  idempotent: false,
  timeoutMs: MAX_TIMEOUT_MS + 5_000,
  input: z.object({
    url: z.url({ error: missing('Missing required field: url') }).describe('Absolute http or https URL.'),
    method: choice(METHODS, { unknown: 'Unsupported HTTP method', fold: (text) => text.toUpperCase() })
      .default('GET')
      .describe('Default GET.'),
    headers: z.record(z.string(), z.string()).default({}).describe('Request headers. Cookies and authorization are not sent.'),
    body: z
      .union([z.string(), z.record(z.string(), z.unknown())])
      .optional()
      .describe('Text to send, or an object to send as JSON. Ignored for GET and HEAD.'),
    timeoutMs: z.int().min(1).max(MAX_TIMEOUT_MS).default(DEFAULT_TIMEOUT_MS).describe('Longest wait for the whole answer.'),
    maxBytes: z.int().min(1).optional().describe('Read no more of the body than this.'),
  }),
  output: z.object({
    success: z.boolean().describe('Whether the status is 200 to 299.'),
    url: z.string(),
    method: z.enum(METHODS),
    status: z.int(),
    statusText: z.string(),
    headers: z.record(z.string(), z.string()),
    body: z.string(),
    bodyEncoding: z.enum(['utf8', 'base64']),
    truncated: z.boolean(),
  }),
  isReadOnly: ({ method }) => method === 'GET' || method === 'HEAD',
  async execute({ url, method, headers, body, timeoutMs, maxBytes = Number.POSITIVE_INFINITY }, context) {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([context.signal, timeout]);
    const target = new URL(url);
    try {
      const init = { method, headers: headersOf(headers, body), body: bodyOf(method, body), signal };
      const response = await context.publicFetch(target, init);
      const limit = Math.min(maxBytes, context.limits.maxHttpResponseBytes);
      return {
        success: response.ok,
        url: target.href,
        method,
        status: response.status,
        statusText: response.statusText,
        headers: incomingHeaders(response.headers),
        ...(method === 'HEAD' ? EMPTY_BODY : await readText(response, { maxBytes: limit, signal })),
      };
    } catch (error) {
      if (timeout.aborted && !context.signal.aborted) throw new SkillError(`Timed out after ${timeoutMs} ms`);
      throw error;
    }
  },
});
