import { constants, performServerHandshake, type ServerHttp2Stream } from 'node:http2';
import { browserOutcome, MAX_BROWSER_ANSWER_BYTES } from '../../src/contract/browser-runs.ts';
import type { RunRequest } from '../../src/contract/runs.ts';
import type { DockerEngine } from '../docker-engine.ts';
import { HostError } from '../host-error.ts';
import { OutputText } from '../output-text.ts';
import type { ProgramResult, ProgramWatcher } from '../run-program.ts';
import type { BrowserContainer } from './browser-source.ts';
import { createContainerPipe } from './container-pipe.ts';
import type { Egress } from './egress.ts';

/** How long Chromium may take to start. */
const START_TIMEOUT_MS = 30_000;
const KILL_TIMEOUT_MS = 2_000;
const OOM_EVENT_MS = 300;
const MAX_ERROR_CHARS = 2_000;

/** A browser has no more connections to a proxy than 32. */
const MAX_CONNECTIONS = 64;
/** Bytes under way of one connection; of all together the session may have as many, so that one that is not read holds up no other. */
const STREAM_WINDOW_BYTES = 262_144;
const SESSION_WINDOW_BYTES = MAX_CONNECTIONS * STREAM_WINDOW_BYTES;
/** Megabytes that the session may hold. */
const MAX_SESSION_MEMORY = 24;

/** Reads the driver's outcome, checked, as JSON. */
async function readOutcome(stream: ServerHttp2Stream): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BROWSER_ANSWER_BYTES) throw new Error('The browser sent too long an answer');
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  browserOutcome.parse(JSON.parse(text));
  return text;
}

/**
 * Follows a browser's driver to its end. It speaks HTTP/2 over the container's stdin and stdout, as the client: GET /run gives it the request's stdin,
 * POST /outcome, once and after that, takes what the run's stdout is to be, and each CONNECT is a connection of the browser. As `runProgram` otherwise.
 */
export function runBrowser(
  egress: Egress,
  engine: DockerEngine,
  container: BrowserContainer,
  request: RunRequest,
  watcher: ProgramWatcher,
): Promise<ProgramResult> {
  const { containerId, stream } = container;
  const { promise, resolve, reject } = Promise.withResolvers<ProgramResult>();
  const takenAt = Date.now();
  const stderr = new OutputText(MAX_ERROR_CHARS);
  const pipe = createContainerPipe(stream, (bytes) => stderr.push(bytes));
  let startedAt: number | undefined;
  let timedOut = false;
  let killed = false;
  let isOutcomeTaken = false;
  let settled = false;
  let timer = setTimeout(() => settle(new HostError('docker_unavailable', 'The browser did not start in time')), START_TIMEOUT_MS);

  const session = performServerHandshake(pipe, {
    maxSessionMemory: MAX_SESSION_MEMORY,
    settings: { maxConcurrentStreams: MAX_CONNECTIONS + 2, initialWindowSize: STREAM_WINDOW_BYTES },
  });
  session.setLocalWindowSize(SESSION_WINDOW_BYTES);

  function settle(end: { exitCode: number; stdout?: string; oomKilled?: boolean } | HostError): void {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    watcher.signal.removeEventListener('abort', kill);
    session.destroy();
    stream.destroy();
    engine.kill(containerId, 'SIGKILL').catch(() => undefined);
    if (end instanceof HostError) {
      reject(end);
      return;
    }
    const now = Date.now();
    resolve({
      exitCode: end.exitCode,
      stdout: end.stdout ?? '',
      stderr: stderr.text,
      truncated: false,
      timedOut,
      oomKilled: end.oomKilled ?? false,
      killed,
      durationMs: now - (startedAt ?? now),
      files: [],
    });
  }

  function kill(): void {
    killed = true;
    settle({ exitCode: 137 });
  }

  function start(tunnel: ServerHttp2Stream): void {
    clearTimeout(timer);
    startedAt ??= Date.now();
    timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, request.limits.timeoutMs);
    watcher.onStart();
    tunnel.respond({ ':status': 200 });
    tunnel.end(request.stdin);
  }

  async function finish(tunnel: ServerHttp2Stream): Promise<void> {
    isOutcomeTaken = true;
    try {
      const stdout = await readOutcome(tunnel);
      settle({ exitCode: 0, stdout });
    } catch (cause) {
      settle(new HostError('internal_error', 'The browser sent an answer that cannot be read', { cause }));
    }
  }

  /** The container's end came before the outcome. */
  async function concludeFromExit(): Promise<void> {
    if (settled) return;
    const exitCode = await Promise.race([
      container.removed.catch(() => 137),
      new Promise<number>((done) => setTimeout(done, KILL_TIMEOUT_MS, 137)),
    ]);
    // No page has been opened yet, so that what the driver says may be logged.
    const cause = startedAt === undefined && new Error(stderr.text);
    if (cause) return settle(new HostError('internal_error', 'The browser could not be started', { cause }));
    const oomKilled = await engine.wasOutOfMemory(containerId, takenAt, Date.now() + OOM_EVENT_MS).catch(() => false);
    settle(oomKilled ? { exitCode, oomKilled } : new HostError('internal_error', 'The browser was lost'));
  }

  session.on('error', () => stream.destroy());
  session.on('stream', (tunnel, headers) => {
    tunnel.on('error', () => undefined);
    const method = headers[constants.HTTP2_HEADER_METHOD];
    const path = headers[constants.HTTP2_HEADER_PATH];
    if (method === 'CONNECT') void egress(tunnel, String(headers[constants.HTTP2_HEADER_AUTHORITY]));
    else if (method === 'GET' && path === '/run' && startedAt === undefined) start(tunnel);
    else if (method === 'POST' && path === '/outcome' && startedAt !== undefined && !isOutcomeTaken) void finish(tunnel);
    else tunnel.close(constants.NGHTTP2_REFUSED_STREAM);
  });
  stream.on('error', () => undefined);
  stream.on('close', () => void concludeFromExit());
  watcher.signal.addEventListener('abort', kill);
  if (watcher.signal.aborted) kill();
  return promise;
}
