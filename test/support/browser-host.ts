import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEgress } from '../../sandbox-host/browser/egress.ts';
import {
  BROWSER_RUNS_PATH,
  type BrowserRunRequestInput,
  type BrowserRunResult,
  type BrowserStep,
  browserRunResult,
} from '../../src/contract/browser-runs.ts';
import { createTestHost, newRunId, TEST_SECRET, type TestHost } from './docker.ts';
import { signedRequest } from './sandbox-request.ts';

/** As dev/setup.mjs --browser builds it. */
export const BROWSER_IMAGE = 'omniroute-browser:1';

export interface Site {
  /** Under a name that stands for this machine in `siteEgress` alone. */
  url: string;
  port: number;
  /** What was asked for, as `method path body`. */
  requests: string[];
  close(): Promise<void>;
}

type Page = string | ((request: IncomingMessage, response: ServerResponse) => void);

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const closed = async (server: Server) => {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
};

/** A web site on this machine with pages by path. */
export async function startSite(pages: Record<string, Page>): Promise<Site> {
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    if (pathname !== '/favicon.ico') requests.push(`${request.method} ${request.url} ${await readBody(request)}`.trim());
    const page = pages[pathname];
    if (typeof page === 'function') return page(request, response);
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(page ?? '<title>Nothing</title><p>nothing here');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://site.example:${port}`, port, requests, close: () => closed(server) };
}

/** The egress itself, in an internet in which `site.example` is this machine, `inside.example` a private one and nothing else exists. */
export const siteEgress = () => {
  const names: Record<string, string[]> = { 'site.example': ['127.0.0.1'], 'other.example': ['127.0.0.1'], 'inside.example': ['10.1.2.3'] };
  return createEgress({ lookup: async (name) => names[name] ?? [], isAllowed: (address) => address === '127.0.0.1' });
};

export interface BrowserHost extends TestHost {
  send(request: BrowserRunRequestInput, signal?: AbortSignal): Promise<Response>;
  /** Runs steps in a browser of their own. */
  browse(steps: BrowserStep[], change?: Partial<BrowserRunRequestInput>): Promise<BrowserRunResult>;
}

/** A sandbox-host in this process with browsers that reach test sites. */
export function createBrowserHost(variables: Record<string, string> = {}): BrowserHost {
  const testHost = createTestHost({ BROWSER_IMAGE, ...variables }, siteEgress());
  const send: BrowserHost['send'] = async (body, signal) =>
    testHost.host.app.request(
      BROWSER_RUNS_PATH,
      await signedRequest(TEST_SECRET, 'POST', BROWSER_RUNS_PATH, { body, ...(signal && { signal }) }),
    );
  return {
    ...testHost,
    send,
    async browse(steps, change = {}) {
      const response = await send({ id: newRunId(), steps, ...change });
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
      return browserRunResult.parse(await response.json());
    },
  };
}
