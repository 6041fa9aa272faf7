import { type JSONRPCMessage, type JSONRPCRequest, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { messageOf } from './exit-code.ts';
import type { Gateway } from './gateway.ts';
import type { Terminal } from './terminal.ts';

/** What servers define themselves begins here (JSON-RPC 2.0, section 5.1). */
const SERVER_ERROR = -32000;
const MAX_MESSAGE_BYTES = 20 * 1024 * 1024;
/** How long the server is given to be told that the client has gone. */
const GOODBYE_MS = 1_000;

const isRequest = (message: JSONRPCMessage): message is JSONRPCRequest => 'method' in message && 'id' in message;

/** The text of an error is JSON when the gateway has said what is wrong. */
function describe(error: unknown, url: string): string {
  const { text } = (error as { data?: { text?: unknown } } | null)?.data ?? {};
  if (typeof text === 'string') {
    try {
      const { error: said } = JSON.parse(text) as { error?: { message?: string } | string };
      const message = typeof said === 'string' ? said : said?.message;
      if (message !== undefined) return message;
    } catch {
      // Not one of ours: told as it came.
    }
  }
  const cause = error instanceof Error && error.cause !== undefined ? `: ${messageOf(error.cause)}` : '';
  return `${url}: ${messageOf(error)}${cause}`;
}

/**
 * Passes the messages of a client of MCP on standard input to the gateway's streamable HTTP, and its messages back on standard output, until the
 * client closes its end. A request that fails on the way is answered with an error that says why.
 */
export async function bridgeMcp({ url, token }: Gateway, terminal: Terminal, remark: (text: string) => Promise<void>): Promise<void> {
  const local = new StdioServerTransport(terminal.stdin, terminal.stdout, { maxBufferSize: MAX_MESSAGE_BYTES });
  const remote = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    fetch: terminal.fetch,
    requestInit: { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } },
  });
  /** Requests that have no answer yet, by their id as JSON, since 1 and "1" are two. */
  const open = new Map<string, { request: JSONRPCRequest; left: AbortController }>();

  const answer = (message: JSONRPCMessage): Promise<void> => local.send(message).catch(() => {});

  async function fail(request: JSONRPCRequest, reason: string): Promise<void> {
    if (!open.delete(JSON.stringify(request.id))) return;
    await remark(`mcp: ${request.method}: ${reason}`);
    await answer({ jsonrpc: '2.0', id: request.id, error: { code: SERVER_ERROR, message: reason } });
  }

  async function forward(request: JSONRPCRequest): Promise<void> {
    const left = new AbortController();
    open.set(JSON.stringify(request.id), { request, left });
    try {
      await remote.send(request, {
        requestSignal: left.signal,
        onRequestStreamEnd: () => void fail(request, 'The gateway ended the connection without an answer'),
      });
    } catch (error) {
      if (!left.signal.aborted) await fail(request, describe(error, url));
    }
  }

  local.onmessage = (message) => {
    if (isRequest(message)) return void forward(message);
    if ('method' in message && message.method === 'notifications/cancelled') {
      const key = JSON.stringify((message.params as { requestId?: unknown } | undefined)?.requestId);
      // Over HTTP a client of the later revisions cancels by leaving; the earlier ones send this, which does no harm to the others.
      setImmediate(() => {
        open.get(key)?.left.abort();
        open.delete(key);
      });
    }
    remote.send(message).catch((error: unknown) => void remark(`mcp: ${describe(error, url)}`));
  };
  remote.onmessage = (message) => {
    if (!('method' in message) && 'id' in message) {
      const key = JSON.stringify(message.id);
      const asked = open.get(key);
      // Cancelled meanwhile.
      if (!asked) return;
      open.delete(key);
      const version = 'result' in message ? message.result.protocolVersion : undefined;
      if (asked.request.method === 'initialize' && typeof version === 'string') remote.setProtocolVersion(version);
    }
    void answer(message);
  };
  local.onerror = (error) => void remark(`mcp: ${messageOf(error)}`);

  const closed = new Promise<void>((resolve) => {
    local.onclose = resolve;
    terminal.signal.addEventListener('abort', () => void local.close(), { once: true });
  });
  await remote.start();
  await local.start();
  await closed;
  await Promise.race([remote.terminateSession().catch(() => {}), new Promise((resolve) => setTimeout(resolve, GOODBYE_MS).unref())]);
  await remote.close();
}
