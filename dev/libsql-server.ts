import { fstatSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { answerRequest } from './libsql/answer-request.ts';
import { createPipelines } from './libsql/pipelines.ts';
import { makeFolder } from './stack/make-folder.ts';

export interface LibsqlServerOptions {
  /** A database file, made when it is missing, or `:memory:` for one that goes when the server closes. */
  path: string;
  /** 0 picks a free port. */
  port: number;
  host: string;
  /** Asked of every client as a bearer token when it is given. */
  authToken?: string;
  /** A transaction whose client is silent for so long is rolled back. */
  streamExpiryMs?: number;
  /** How long a writer waits for another's transaction. */
  busyTimeoutMs?: number;
}

export interface LibsqlServer {
  url: string;
  port: number;
  /** Rolls back open transactions; the data stays in its file. */
  close(): Promise<void>;
}

/**
 * libSQL for development: Hrana over HTTP (JSON, versions 2 and 3) on the native libsql package.
 * Rejects with Node's own error when the port is taken, and with an Error when the file is not a database.
 */
export async function startLibsqlServer(options: LibsqlServerOptions): Promise<LibsqlServer> {
  const { streamExpiryMs = 5_000, busyTimeoutMs = 10_000 } = options;
  const inMemory = options.path === ':memory:';
  const path = inMemory ? join(mkdtempSync(join(tmpdir(), 'omniroute-libsql-')), 'memory.db') : options.path;
  if (!inMemory) makeFolder(dirname(path), 0o700);
  const pipelines = createPipelines({ path, durable: !inMemory, streamExpiryMs, busyTimeoutMs });
  const server = createServer((request, response) => void answerRequest(request, response, pipelines, options.authToken));
  const closeData = (): void => {
    pipelines.close();
    if (inMemory) rmSync(dirname(path), { recursive: true, force: true });
  };
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port, options.host, resolve);
    });
  } catch (error) {
    closeData();
    throw error;
  }
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${options.host}:${port}`,
    port,
    async close() {
      const ended = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await ended;
      closeData();
    },
  };
}

/** Runs the server as a process of its own. Environment: LIBSQL_PORT, DATA_DIR, LIBSQL_AUTH_TOKEN. */
async function main({ LIBSQL_PORT = '8888', DATA_DIR = '.data', LIBSQL_AUTH_TOKEN }: NodeJS.ProcessEnv): Promise<void> {
  const fail = (message: string): never => {
    console.error(message);
    process.exit(1);
  };
  if (!/^\d{1,5}$/.test(LIBSQL_PORT) || Number(LIBSQL_PORT) > 65_535) fail(`LIBSQL_PORT must be a port number, not "${LIBSQL_PORT}"`);
  const path = join(DATA_DIR, 'omniroute.db');
  const server = await startLibsqlServer({
    path,
    port: Number(LIBSQL_PORT),
    host: '127.0.0.1',
    ...(LIBSQL_AUTH_TOKEN ? { authToken: LIBSQL_AUTH_TOKEN } : {}),
  }).catch((error: NodeJS.ErrnoException) =>
    fail(
      error.code === 'EADDRINUSE' ? `Port ${LIBSQL_PORT} is taken; set LIBSQL_PORT to another` : `Cannot open ${path}: ${error.message}`,
    ),
  );
  console.log(`libSQL on ${server.url}, data in ${path}`);
  const stop = (): void => void server.close().then(() => process.exit(0));
  process.once('SIGTERM', stop).once('SIGINT', stop);
  // A parent that holds our stdin as a pipe lets go of it when it ends, however it ends.
  const stdin = fstatSync(0);
  if (stdin.isFIFO() || stdin.isSocket()) process.stdin.once('close', stop).resume();
}

if (import.meta.main) await main(process.env);
