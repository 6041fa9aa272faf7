import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Pipelines } from './pipelines.ts';
import { HranaError, pipelineRequest } from './protocol.ts';

const NAMES = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Whether a page in a browser may be asking: those of other sites send an Origin, and those that have bound their own name to our
 * address send that name as the Host. Neither needs the user to know.
 */
function mayBePage({ headers, socket }: IncomingMessage): boolean {
  const host = headers.host?.toLowerCase();
  // A client leaves the port out when it is that of HTTP.
  const port = socket.localPort === 80 ? '' : `:${socket.localPort}`;
  return headers.origin !== undefined || !NAMES.some((name) => host === `${name}${port}`);
}

const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Answers one HTTP request; failures become `{ message, code }`, as the clients of Hrana read them. */
export async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  pipelines: Pipelines,
  authToken: string | undefined,
): Promise<void> {
  const send = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  try {
    if (mayBePage(request)) return send(403, { message: 'Pages in a browser may not use this server', code: 'FORBIDDEN' });
    if (authToken !== undefined && request.headers.authorization !== `Bearer ${authToken}`)
      return send(401, { message: 'Missing or wrong auth token', code: 'AUTH_INVALID' });
    const route = `${request.method} ${request.url}`;
    if (/^GET \/v[23]\/?$/.test(route)) return send(200, {});
    if (!/^POST \/v[23]\/pipeline$/.test(route)) return send(404, { message: `No such endpoint: ${route}`, code: 'NOT_FOUND' });
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    send(200, await pipelines.run(parsePipeline(await readBody(request)), gone.signal));
  } catch (error) {
    if (error instanceof HranaError) return send(error.code === 'BODY_TOO_LARGE' ? 413 : 400, { message: error.message, code: error.code });
    console.error(error);
    send(500, { message: 'Internal error', code: 'INTERNAL_ERROR' });
  }
}

function parsePipeline(body: string) {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new HranaError('HRANA_PROTO_ERROR', 'The body is not JSON');
  }
  const parsed = pipelineRequest.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new HranaError('HRANA_PROTO_ERROR', `${issue?.path.join('.')}: ${issue?.message}`);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new HranaError('BODY_TOO_LARGE', `The body has more than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
