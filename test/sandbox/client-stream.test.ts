import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { HostError } from '../../sandbox-host/host-error.ts';
import type { StartRun } from '../../sandbox-host/run-registry.ts';
import type { HostErrorCode, RunRequestInput } from '../../src/contract/runs.ts';
import { createSandboxClient } from '../../src/sandbox/client.ts';
import { createTestServer, resultOf, SERVER_SECRET } from '../support/sandbox-server.ts';

const run: RunRequestInput = { id: 'run-1', image: 'alpine:3.20', command: ['true'] };
const RESTARTED = 'The sandbox host was lost during the run. A part of the output had been passed on, so it is not run again.';

type Handler = (path: string, init: RequestInit) => Promise<Response> | Response;

/** A client of hosts by the name in their URL, what was asked of them, and what has been passed on. */
function createNetwork(hosts: Record<string, Handler>, signal = new AbortController().signal) {
  const journal: string[] = [];
  const told: string[] = [];
  const client = createSandboxClient({
    pools: [{ name: 'all', urls: Object.keys(hosts).map((name) => `http://${name}`), colos: [], continents: [] }],
    secret: SERVER_SECRET,
    now: () => Date.now(),
    newId: () => randomUUID(),
    random: () => 0,
    async fetch(url, init) {
      const { hostname, pathname, search } = new URL(url);
      journal.push(`${init.method ?? 'GET'} ${hostname}${pathname}${search}`);
      return (hosts[hostname] as Handler)(pathname + search, init);
    },
  });
  const options = { signal, onOutput: (stream: string, text: string) => void told.push(`${stream} ${text}`) };
  return { journal, told, run: (change: Partial<RunRequestInput> = {}) => client.run({ ...run, ...change }, options) };
}

function serverOf(start: StartRun, bootId = 'first-life') {
  const { app } = createTestServer(start, { bootId });
  const handler: Handler = (path, init) => app.request(path, init);
  return handler;
}

/** A run that prints two lines, the second once `go` has come. */
function createPrinter() {
  const { promise: gone, resolve: go } = Promise.withResolvers<void>();
  const starts: string[] = [];
  const start: StartRun = async ({ id }, { onStart, onOutput }) => {
    starts.push(id);
    onStart();
    onOutput('stdout', 'one\n');
    await gone;
    onOutput('stderr', 'two ü😀\n');
    return resultOf(id, { stdout: 'one\n', stderr: 'two ü😀\n' });
  };
  return { start, go, starts };
}

/** The answer, cut off once it has told something. */
function breakOff({ body, status, headers }: Response, onBreak: () => void = () => {}): Response {
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  let hasTold = false;
  const broken = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (hasTold) {
        onBreak();
        controller.error(new TypeError('terminated'));
        return;
      }
      const { value } = await reader.read();
      hasTold = true;
      controller.enqueue(value as Uint8Array);
    },
  });
  return new Response(broken, { status, headers });
}

describe('a run whose output is asked for', () => {
  it('tells it while the program runs, and gives the same result', async () => {
    const { start, go } = createPrinter();
    const { told, run } = createNetwork({ one: serverOf(start) });
    const result = run();
    await expect.poll(() => told, { timeout: 10_000 }).toEqual(['stdout one\n']);
    go();
    expect(await result).toEqual(resultOf('run-1', { stdout: 'one\n', stderr: 'two ü😀\n' }));
    expect(told).toEqual(['stdout one\n', 'stderr two ü😀\n']);
  });

  it('reads answers that come byte by byte', async () => {
    const { start, go } = createPrinter();
    go();
    const host = serverOf(start);
    const split: Handler = async (path, init) => {
      const response = await host(path, init);
      const bytes = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          for (const byte of chunk) controller.enqueue(new Uint8Array([byte]));
        },
      });
      return new Response((response.body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(bytes), response);
    };
    const { told, run } = createNetwork({ one: split });
    expect((await run()).stderr).toBe('two ü😀\n');
    expect(told).toEqual(['stdout one\n', 'stderr two ü😀\n']);
  });

  it('goes on to the next host while nothing was told', async () => {
    for (const code of ['queue_full', 'draining', 'docker_unavailable'] satisfies HostErrorCode[]) {
      const { start, go } = createPrinter();
      go();
      const refusing = serverOf(async () => {
        throw new HostError(code, 'no');
      });
      const { journal, told, run } = createNetwork({ first: refusing, second: serverOf(start) });
      expect((await run()).stdout).toBe('one\n');
      expect(journal).toEqual(['POST first/v1/runs', 'POST second/v1/runs']);
      expect(told).toHaveLength(2);
    }
  });

  it('comes back to the same run when the connection breaks, and tells nothing twice', async () => {
    const { start, go, starts } = createPrinter();
    const host = serverOf(start);
    let asked = 0;
    const flaky: Handler = async (path, init) => {
      asked += 1;
      const response = await host(path, init);
      return asked === 1 ? breakOff(response, go) : response;
    };
    const { journal, told, run } = createNetwork({ one: flaky, two: serverOf(start) });
    expect((await run()).stderr).toBe('two ü😀\n');
    expect(told).toEqual(['stdout one\n', 'stderr two ü😀\n']);
    expect(starts).toEqual(['run-1']);
    expect(journal).toEqual(['POST one/v1/runs', 'POST one/v1/runs?life=first-life']);
  });

  it('is not run again when its host was started anew after something was told', async () => {
    const { start, starts } = createPrinter();
    const lives = [serverOf(start), serverOf(start, 'second-life')];
    const restarting: Handler = async (path, init) => {
      const [life] = lives.length > 1 ? [lives.shift()] : lives;
      const response = await (life as Handler)(path, init);
      return response.ok ? breakOff(response) : response;
    };
    const { journal, told, run } = createNetwork({ one: restarting, two: serverOf(start) });
    await expect(run()).rejects.toThrow(expect.objectContaining({ message: RESTARTED, beforeRun: false, transient: false }));
    expect([told, starts]).toEqual([['stdout one\n'], ['run-1']]);
    expect(journal).toEqual(['POST one/v1/runs', 'POST one/v1/runs?life=first-life']);
  });

  it('is not run elsewhere when its host is gone after something was told', async () => {
    const { start, starts } = createPrinter();
    const host = serverOf(start);
    let asked = 0;
    const dying: Handler = async (path, init) => {
      asked += 1;
      if (asked > 1) throw new TypeError('fetch failed');
      return breakOff(await host(path, init));
    };
    const { run } = createNetwork({ one: dying, two: serverOf(start) });
    await expect(run()).rejects.toThrow(RESTARTED);
    expect(starts).toEqual(['run-1']);
  });

  it('says that the run was lost when the stream ends so', async () => {
    const lost: StartRun = async (_, { onStart, onOutput }) => {
      onStart();
      onOutput('stdout', 'so far\n');
      await new Promise((resolve) => setTimeout(resolve, 10));
      throw new HostError('internal_error', 'The container was lost');
    };
    const { told, run } = createNetwork({ one: serverOf(lost), two: serverOf(lost) });
    await expect(run()).rejects.toThrow('The sandbox host lost the run');
    expect(told).toEqual(['stdout so far\n']);
  });

  it.each([
    ['no JSON', 'x\n'],
    ['no event', '{"type":"other"}\n'],
    ['no text', '{"type":"stdout","text":5}\n'],
    ['no result', '{"type":"result","exitCode":"0"}\n'],
    ['an endless line', ' '.repeat(40_000_000)],
  ])('takes %s for an answer that cannot be read', async (_, body) => {
    const { run } = createNetwork({ one: () => new Response(body, { headers: { 'content-type': 'application/x-ndjson' } }) });
    await expect(run()).rejects.toThrow('The sandbox host sent an answer that cannot be read');
  });

  it('takes an answer that is no stream, too', async () => {
    const { told, run } = createNetwork({ one: () => Response.json(resultOf('run-1', { stdout: 'whole' })) });
    expect([(await run()).stdout, told]).toEqual(['whole', []]);
  });

  it('is killed when the caller goes', async () => {
    const { start } = createPrinter();
    const leaving = new AbortController();
    const { journal, told, run } = createNetwork({ one: serverOf(start) }, leaving.signal);
    const result = run();
    await expect.poll(() => told, { timeout: 10_000 }).toEqual(['stdout one\n']);
    leaving.abort();
    await expect(result).rejects.toThrow('The run was cancelled');
    expect(journal).toEqual(['POST one/v1/runs', 'DELETE one/v1/runs/run-1']);
  });
});
