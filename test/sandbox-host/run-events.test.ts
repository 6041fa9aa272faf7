import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HostError } from '../../sandbox-host/host-error.ts';
import { runEventStream } from '../../sandbox-host/run-events.ts';
import { RunRegistry } from '../../sandbox-host/run-registry.ts';
import { type OutputStream, type RunEvent, type RunResult, runEvent, runRequest } from '../../src/contract/runs.ts';
import { signedRequest } from '../support/sandbox-request.ts';
import { createTestServer, resultOf, SERVER_SECRET } from '../support/sandbox-server.ts';

const never = new AbortController().signal;

/** A run that the test itself plays. */
function playRun() {
  const { promise, resolve, reject } = Promise.withResolvers<RunResult>();
  let print: (stream: OutputStream, text: string) => void = () => {};
  const registry = new RunRegistry({
    now: Date.now,
    kill: () => {},
    start(_, on) {
      print = on.onOutput;
      on.onStart();
      return promise;
    },
  });
  const join = () => registry.join(runRequest.parse({ id: 'a', image: 'alpine:3.20', command: ['true'] }), never);
  join();
  return { join, print, end: (change: Partial<RunResult> = {}) => resolve(resultOf('a', change)), fail: reject };
}

const parse = (lines: string): RunEvent[] =>
  lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => runEvent.parse(JSON.parse(line)));

/** Keeps what a stream has given so far. */
function collect(stream: ReadableStream<Uint8Array>) {
  const seen = { text: '' };
  const decoder = new TextDecoder();
  const done = (async () => {
    for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) seen.text += decoder.decode(chunk, { stream: true });
  })();
  return { seen, done };
}

describe('runEventStream', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('sends whole lines at once, and the beginning of one after a tenth of a second', async () => {
    const { join, print, end } = playRun();
    const { seen, done } = collect(runEventStream(join(), never));
    print('stdout', 'one\ntwo\nName? ');
    await vi.advanceTimersByTimeAsync(0);
    expect(parse(seen.text)).toEqual([{ type: 'stdout', text: 'one\ntwo\n' }]);
    await vi.advanceTimersByTimeAsync(60);
    print('stdout', 'Sure? ');
    await vi.advanceTimersByTimeAsync(39);
    expect(parse(seen.text)).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(parse(seen.text).at(-1)).toEqual({ type: 'stdout', text: 'Name? Sure? ' });
    print('stderr', 'no');
    end({ stdout: 'one\ntwo\nName? Sure? ', stderr: 'no' });
    await done;
    expect(parse(seen.text).slice(2)).toEqual([
      { type: 'stderr', text: 'no' },
      { type: 'result', ...resultOf('a', { stdout: 'one\ntwo\nName? Sure? ', stderr: 'no' }) },
    ]);
  });

  it('says something now and then when the program is silent, and every line is still JSON', async () => {
    const { join, print, end } = playRun();
    const { seen, done } = collect(runEventStream(join(), never));
    await vi.advanceTimersByTimeAsync(12_000);
    expect(seen.text).toBe('  ');
    print('stdout', 'x\n');
    end({ stdout: 'x\n' });
    await done;
    const lines = seen.text.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as RunEvent).type)).toEqual(['stdout', 'result']);
  });

  it('ends with the error of a run that was lost', async () => {
    const { join, fail } = playRun();
    const { seen, done } = collect(runEventStream(join(), never));
    fail(new HostError('internal_error', 'The container was lost'));
    await done;
    expect(parse(seen.text)).toEqual([{ type: 'error', code: 'internal_error', error: 'The container was lost' }]);
  });

  it('stops when its reader goes', async () => {
    const { join, print } = playRun();
    const leaving = new AbortController();
    const { seen, done } = collect(runEventStream(join(), leaving.signal));
    await vi.advanceTimersByTimeAsync(10);
    leaving.abort();
    await done;
    print('stdout', 'late\n');
    expect([seen.text, vi.getTimerCount()]).toEqual(['', 0]);
  });
});

describe('a stream over HTTP', () => {
  const closers: (() => void)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });
  const until = (check: () => void) => vi.waitFor(check, { timeout: 15_000, interval: 20 });

  async function open(url: string, id: string): Promise<IncomingMessage> {
    const body = { id, image: 'alpine:3.20', command: ['true'] };
    const { headers, body: bytes } = await signedRequest(SERVER_SECRET, 'POST', '/v1/runs', { body, accept: 'application/x-ndjson' });
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest(`${url}/v1/runs`, { method: 'POST', headers: headers as Record<string, string> }, resolve);
      outgoing.on('error', reject);
      outgoing.end(bytes);
      closers.push(() => outgoing.destroy());
    });
  }

  /** A host whose runs the test plays, on a socket. */
  async function listen() {
    const played = { ended: false, print: (_stream: OutputStream, _text: string): void => {}, end: (_result: RunResult): void => {} };
    const { app, killed } = createTestServer((_, on) => {
      const { promise, resolve } = Promise.withResolvers<RunResult>();
      played.print = on.onOutput;
      played.end = resolve;
      on.onStart();
      return promise.finally(() => {
        played.ended = true;
      });
    });
    const server = createServer(getRequestListener(app.fetch));
    let readers = 0;
    server.on('request', (_, response) => {
      readers += 1;
      response.on('close', () => {
        readers -= 1;
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('No port');
    return { url: `http://127.0.0.1:${address.port}`, played, killed, countReaders: () => readers };
  }

  it('does not wait for a slow reader, who gets everything in the end', async () => {
    const { url, played } = await listen();
    const response = await open(url, 'slow');
    response.pause();
    // More than sockets buffer.
    const line = `${'é'.repeat(4_000)}\n`;
    const count = 4_000;
    for (let index = 0; index < count; index += 1) played.print('stdout', line);
    played.end(resultOf('slow', { stdout: 'as above' }));
    await until(() => expect(played.ended).toBe(true));
    let text = '';
    response.setEncoding('utf8');
    for await (const chunk of response) text += chunk;
    const events = parse(text);
    expect(events.at(-1)).toMatchObject({ type: 'result', stdout: 'as above' });
    expect(events.flatMap((event) => (event.type === 'stdout' ? event.text : [])).join('')).toBe(line.repeat(count));
  });

  it('ends the run when its reader leaves, unless another one waits for it', async () => {
    const { url, played, killed, countReaders } = await listen();
    const [first, second] = [await open(url, 'shared'), await open(url, 'shared')];
    played.print('stdout', 'one\n');
    for (const response of [first, second]) {
      const [chunk] = await new Promise<string[]>((resolve) => response.once('data', (data: Buffer) => resolve([data.toString()])));
      expect(chunk).toBe('{"type":"stdout","text":"one\\n"}\n');
    }
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    closers.push(() => vi.useRealTimers());
    first.destroy();
    await until(() => expect(countReaders()).toBe(1));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(killed).toEqual([]);
    second.destroy();
    await until(() => expect(countReaders()).toBe(0));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(killed).toEqual(['shared']);
  });
});
