import type { JsonObject, JsonValue } from '../../src/json.ts';
import { createTestApp, type TestApp, type TestAppOptions, type TestRequest } from './app.ts';
import { connectMcp, type McpClient, type McpClientKind, type McpClientOptions } from './mcp-clients.ts';

export interface McpApp {
  app: TestApp;
  /** Installs a skill that answers its input, unless told otherwise; its id. */
  install(fields: JsonObject): Promise<string>;
  /** An official client, closed by `closeClients`. */
  connect(kind: McpClientKind, options?: Partial<McpClientOptions> & { path?: string }): Promise<McpClient>;
  closeClients(): Promise<void>;
  /** A message as it stands, with the headers that a client has to send; the answer's JSON, which may be that of an event. */
  post(
    json: JsonValue,
    request?: TestRequest & { path?: string },
  ): Promise<{ status: number; headers: Headers; body: JsonObject | undefined }>;
  executions(): Promise<JsonObject[]>;
}

/** The JSON of a reply, or of the last event of a stream. */
export async function readMcpReply(response: Response): Promise<JsonObject | undefined> {
  const text = await response.text();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const json = isStream
    ? text
        .split('\n')
        .findLast((line) => line.startsWith('data: '))
        ?.slice('data: '.length)
    : text;
  return json === undefined || json === '' ? undefined : (JSON.parse(json) as JsonObject);
}

/** The gateway without a socket, and clients of MCP that speak to it. */
export async function createMcpApp(options?: TestAppOptions): Promise<McpApp> {
  const app = await createTestApp(options);
  const clients: McpClient[] = [];

  const fetchApp: NonNullable<McpClientOptions['fetch']> = (url, init = {}) => {
    const { pathname, search } = new URL(url);
    const { method = 'GET', headers, body, signal } = init;
    return app.request(pathname + search, {
      as: null,
      method,
      headers: Object.fromEntries(new Headers(headers)),
      ...(body != null && { body }),
      ...(signal && { signal }),
    });
  };

  return {
    app,
    async install(fields) {
      const handler = fields.instructions === undefined ? { handlerCode: 'echo-handler' } : {};
      const json = { description: 'Answers its input', schema: { input: {}, output: {} }, ...handler, ...fields };
      const { body } = await app.call('/api/skills/install', { json });
      return body.id as string;
    },
    async connect(kind, { path = '/mcp', ...rest } = {}) {
      const client = await connectMcp(kind, { url: `http://localhost${path}`, key: app.key.key, fetch: fetchApp, ...rest });
      clients.push(client);
      return client;
    },
    async closeClients() {
      await Promise.all(clients.splice(0).map((client) => client.close()));
    },
    async post(json, { path = '/mcp', headers, ...request } = {}) {
      const response = await app.request(path, {
        as: app.key.key,
        json,
        headers: { accept: 'application/json, text/event-stream', ...headers },
        ...request,
      });
      return { status: response.status, headers: response.headers, body: await readMcpReply(response) };
    },
    async executions() {
      const { body } = await app.call('/api/skills/executions');
      return body.data as JsonObject[];
    },
  };
}
