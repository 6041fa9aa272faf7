import { Client as PresentClient, StreamableHTTPClientTransport as PresentTransport } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '../../src/json.ts';

/** The official clients: of the revision 2026-07-28, the same with the handshake of earlier ones, and the line before it. */
export const MCP_CLIENTS = ['present', 'present-handshake', 'earlier'] as const;
export type McpClientKind = (typeof MCP_CLIENTS)[number];

export type ElicitAction = 'accept' | 'decline' | 'cancel';

export interface McpClientOptions {
  url: string;
  key: string;
  /** The global one by default. */
  fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>;
  headers?: Record<string, string>;
  /** Answers a question to the person at the client, which cannot be asked without it. */
  elicit?: (message: string) => ElicitAction | Promise<ElicitAction>;
}

export interface McpCallOptions {
  signal?: AbortSignal;
  onProgress?: (progress: { progress: number; message?: string | undefined }) => void;
  timeoutMs?: number;
}

export interface McpToolResult {
  content: JsonObject[];
  structuredContent: JsonObject;
  isError: boolean;
  meta: JsonObject;
}

export interface McpClient {
  protocolVersion: string | undefined;
  serverInfo: unknown;
  capabilities: JsonObject;
  listTools(): Promise<JsonObject[]>;
  call(name: string, input?: JsonObject, options?: McpCallOptions): Promise<McpToolResult>;
  /** How often the server has told that its tools have changed. */
  readonly toolChanges: number;
  ping(): Promise<void>;
  close(): Promise<void>;
}

const info = { name: 'test', version: '1.0.0' };

function transportOptions({ key, headers = {}, fetch }: McpClientOptions) {
  return { requestInit: { headers: { authorization: `Bearer ${key}`, ...headers } }, ...(fetch && { fetch }) };
}

const toResult = ({ content, structuredContent, isError, _meta }: Record<string, unknown>): McpToolResult => ({
  content: content as JsonObject[],
  structuredContent: structuredContent as JsonObject,
  isError: isError === true,
  meta: (_meta ?? {}) as JsonObject,
});

const requestOptions = ({ signal, onProgress, timeoutMs = 30_000 }: McpCallOptions) => ({
  timeout: timeoutMs,
  ...(signal && { signal }),
  ...(onProgress && { onprogress: onProgress }),
});

async function connectPresent(options: McpClientOptions, mode: 'auto' | 'legacy'): Promise<McpClient> {
  const { elicit, url } = options;
  let toolChanges = 0;
  const onChanged = () => {
    toolChanges += 1;
  };
  const client = new PresentClient(info, {
    capabilities: elicit ? { elicitation: { form: {} } } : {},
    versionNegotiation: { mode },
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
  });
  if (elicit) {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const action = await elicit(params.message);
      return { action, ...(action === 'accept' && { content: {} }) };
    });
  }
  await client.connect(new PresentTransport(new URL(url), transportOptions(options)));
  return {
    protocolVersion: client.getNegotiatedProtocolVersion(),
    serverInfo: client.getServerVersion(),
    capabilities: client.getServerCapabilities() as JsonObject,
    listTools: async () => (await client.listTools()).tools as JsonObject[],
    call: async (name, input = {}, call = {}) => toResult(await client.callTool({ name, arguments: input }, requestOptions(call))),
    get toolChanges() {
      return toolChanges;
    },
    ping: async () => void (await client.ping()),
    close: () => client.close(),
  };
}

async function connectEarlier(options: McpClientOptions): Promise<McpClient> {
  const { elicit, url } = options;
  let toolChanges = 0;
  const client = new EarlierClient(info, { capabilities: elicit ? { elicitation: {} } : {} });
  if (elicit) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      const action = await elicit(params.message);
      return { action, ...(action === 'accept' && { content: {} }) };
    });
  }
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    toolChanges += 1;
  });
  const transport = new EarlierTransport(new URL(url), transportOptions(options));
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return {
    protocolVersion: transport.protocolVersion,
    serverInfo: client.getServerVersion(),
    capabilities: client.getServerCapabilities() as JsonObject,
    async listTools() {
      const tools: JsonObject[] = [];
      let cursor: string | undefined;
      do {
        const page = await client.listTools({ cursor });
        tools.push(...(page.tools as JsonObject[]));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return tools;
    },
    call: async (name, input = {}, call = {}) =>
      toResult(await client.callTool({ name, arguments: input }, undefined, requestOptions(call))),
    get toolChanges() {
      return toolChanges;
    },
    ping: async () => void (await client.ping()),
    close: () => client.close(),
  };
}

/** Connects an official client, which checks what it gets by its own schemas. */
export function connectMcp(kind: McpClientKind, options: McpClientOptions): Promise<McpClient> {
  switch (kind) {
    case 'present':
      return connectPresent(options, 'auto');
    case 'present-handshake':
      return connectPresent(options, 'legacy');
    case 'earlier':
      return connectEarlier(options);
  }
}
