import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Pipelines } from './pipelines.ts';
import { HranaError, pipelineRequest } from './protocol.ts';

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
