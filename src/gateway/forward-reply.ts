import type { ProviderAdapter } from '../providers/adapter.ts';
import type { UpstreamRefusal } from './upstream.ts';

/** Headers that belong to one connection or to the provider's own site, never to the client. */
const DROPPED_HEADERS = [
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'trailer',
  'set-cookie',
  'alt-svc',
  'strict-transport-security',
];

function dropHeaders(headers: Headers): Headers {
  for (const name of DROPPED_HEADERS) if (headers.has(name)) headers.delete(name);
  return headers;
}

/** The provider's headers for a body that we write: nothing of them tells its length or coding. */
export function headersForOwnBody(upstream: Response): Headers {
  const headers = dropHeaders(new Headers(upstream.headers));
  headers.delete('content-length');
  headers.delete('content-encoding');
  return headers;
}

/** The provider's reply as it came: same status, same bytes, piped without a look at them. */
export function forwardReply(upstream: Response): Response {
  const reply = new Response(upstream.body, upstream);
  dropHeaders(reply.headers);
  return reply;
}

const MAX_REFUSAL_BYTES = 1024 * 1024;

/** The provider's refusal for the client: its status, `retry-after` and body; a body that is not JSON is replaced by the format's error. */
export async function forwardRefusal(adapter: ProviderAdapter, { response }: UpstreamRefusal): Promise<Response> {
  const headers = headersForOwnBody(response);
  headers.delete('location');
  const text = await refusalText(response);
  if (isJson(text)) return new Response(text, { status: response.status, headers });
  headers.set('content-type', 'application/json');
  const message = `The model provider answered ${response.status}`;
  // Redirects and the like would be misread by a client, since they were meant for us.
  const status = response.status >= 400 ? response.status : 502;
  return new Response(JSON.stringify(adapter.errorBody({ status, code: 'upstream_failed', message })), { status, headers });
}

async function refusalText(response: Response): Promise<string> {
  const bytes = await response.arrayBuffer().catch(() => new ArrayBuffer(0));
  return bytes.byteLength > MAX_REFUSAL_BYTES ? '' : new TextDecoder().decode(bytes);
}

function isJson(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}
