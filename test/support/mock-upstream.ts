import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../src/json.ts';

export interface UpstreamRequest {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  body: JsonObject;
}

/** Answers one request of the gateway. `closed` resolves when the gateway hangs up before the end. */
export type UpstreamHandler = (request: UpstreamRequest, response: ServerResponse, closed: Promise<void>) => void | Promise<void>;

export interface MockUpstream {
  /** Base URL, without a path. */
  url: string;
  /** Every request since the last `play`. */
  requests: UpstreamRequest[];
  /** Answers the next requests with these handlers in turn, the last one again and again. */
  play(...handlers: UpstreamHandler[]): void;
  close(): Promise<void>;
}

/** A model provider on loopback that says what a test tells it to say. */
export async function startMockUpstream(): Promise<MockUpstream> {
  const requests: UpstreamRequest[] = [];
  let handlers: UpstreamHandler[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const seen = { path: request.url ?? '', headers: request.headers, text, body: text === '' ? {} : (JSON.parse(text) as JsonObject) };
    requests.push(seen);
    const closed = new Promise<void>((resolve) => response.once('close', () => resolve()));
    const handler = handlers[Math.min(requests.length, handlers.length) - 1];
    if (handler) await handler(seen, response, closed);
    else response.writeHead(500).end('no handler');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    play(...next) {
      requests.length = 0;
      handlers = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const sendJson =
  (body: unknown, status = 200, headers: Record<string, string> = {}): UpstreamHandler =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

/** Sends server-sent events; a text is the data of one event, as it stands. */
export const sendEvents =
  (...events: (JsonObject | string)[]): UpstreamHandler =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) response.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
    response.end();
  };

/** Sends server-sent events whose names are their types, as Anthropic and the Responses API do. */
export const sendNamedEvents =
  (...events: JsonObject[]): UpstreamHandler =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) response.write(`event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  };
