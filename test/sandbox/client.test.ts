import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { HostError } from '../../sandbox-host/host-error.ts';
import type { StartRun } from '../../sandbox-host/run-registry.ts';
import type { HostErrorCode, RunRequestInput, RunResult } from '../../src/contract/runs.ts';
import { createSandboxClient, type SandboxClientOptions } from '../../src/sandbox/client.ts';
import { SkillError } from '../../src/skills/define.ts';
import { createTestServer, resultOf, SERVER_SECRET } from '../support/sandbox-server.ts';

const run: RunRequestInput = { id: 'run-1', image: 'alpine:3.20', command: ['true'] };
const never = { signal: new AbortController().signal };

type Handler = (path: string, init: RequestInit) => Promise<Response> | Response;

/** Hosts by the name in their URL, a journal of what was asked of them, and a client of them in the given pools. */
function createNetwork(hosts: Record<string, Handler>, change: Partial<SandboxClientOptions> = {}) {
  const journal: string[] = [];
  // Behind the hosts' clock, so that `pass` does not lead past it.
  let now = Date.now() - 30_000;
  const client = createSandboxClient({
    pools: [{ name: 'all', urls: Object.keys(hosts).map((name) => `http://${name}`), colos: [], continents: [] }],
    secret: SERVER_SECRET,
    now: () => now,
    newId: () => randomUUID(),
    random: () => 0,
    async fetch(url, init) {
      const { hostname, pathname, search } = new URL(url);
      journal.push(`${init.method ?? 'GET'} ${hostname}${pathname}`);
      const handler = hosts[hostname];
      if (!handler) throw new TypeError('fetch failed');
      return handler(pathname + search, init);
    },
    ...change,
  });
  const pass = (ms: number) => {
    now += ms;
  };
  return { client, journal, pass };
}

/** A real server whose runs end as the test wants. */
function serverOf(start: StartRun) {
  const { app, killed } = createTestServer(start);
  const handler: Handler = (path, init) => app.request(path, init);
  return { handler, killed };
}

const answering = (stdout: string) =>
  serverOf(async ({ id }, { onStart }) => {
    onStart();
    return resultOf(id, { stdout });
  }).handler;

const failing = (code: HostErrorCode) =>
  serverOf(async () => {
    throw new HostError(code, `says ${code}`);
  }).handler;

const unreachable: Handler = () => {
  throw new TypeError('fetch failed');
};

describe('run', () => {
  it('talks to the server of a sandbox-host', async () => {
    const seen: unknown[] = [];
    const { handler } = serverOf(async (request, { onStart }) => {
      seen.push(request);
      onStart();
      return resultOf(request.id, {
        stdout: 'ü😀',
        files: [{ path: 'a', contentBase64: 'eA==' }],
        skippedFiles: [{ path: 'b', reason: 'large' }],
        skippedFileCount: 7,
      });
    });
    const { client } = createNetwork({ one: handler });
    const request = { ...run, env: { A: 'ü' }, stdin: '😀', files: [{ path: 'x', contentBase64: 'eA==' }], returnFiles: true };
    expect(await client.run(request, never)).toEqual(
      resultOf('run-1', {
        stdout: 'ü😀',
        files: [{ path: 'a', contentBase64: 'eA==' }],
        skippedFiles: [{ path: 'b', reason: 'large' }],
        skippedFileCount: 7,
      }),
    );
    expect(seen).toEqual([expect.objectContaining(request)]);
  });

  it('starts in the pool that is nearest', async () => {
    const pools = [
      { name: 'us', urls: ['http://us'], colos: ['IAD'], continents: ['NA'] },
      { name: 'eu', urls: ['http://eu'], colos: ['FRA'], continents: ['EU'] },
    ];
    const { client } = createNetwork({ us: answering('us'), eu: answering('eu') }, { pools });
    expect((await client.near({ colo: 'FRA', continent: 'EU' }).run(run, never)).stdout).toBe('eu');
    expect((await client.near({ colo: 'LHR', continent: 'EU' }).run(run, never)).stdout).toBe('eu');
    expect((await client.near({ colo: 'SYD', continent: 'OC' }).run(run, never)).stdout).toBe('us');
    expect((await client.run(run, never)).stdout).toBe('us');
  });

  it.each<HostErrorCode>(['queue_full', 'draining', 'docker_unavailable', 'image_missing', 'clock_skew'])(
    'goes on to the next host after %s, with the same id',
    async (code) => {
      const ids: string[] = [];
      const { handler } = serverOf(async ({ id }, { onStart }) => {
        ids.push(id);
        onStart();
        return resultOf(id, { stdout: 'second' });
      });
      const { client, journal } = createNetwork({ first: failing(code), second: handler });
      expect((await client.run(run, never)).stdout).toBe('second');
      expect(journal).toEqual(['POST first/v1/runs', 'POST second/v1/runs']);
      expect(ids).toEqual(['run-1']);
    },
  );

  it('tells which host has the run, also when it fails there, and that a host did not take it', async () => {
    const told: (string | null)[] = [];
    const options = { ...never, onHost: (host: string | null) => void told.push(host) };
    const { client } = createNetwork({ a: unreachable, b: answering('b') });
    await client.run(run, options);
    expect(told).toEqual(['http://a', null, 'http://b']);
    told.length = 0;
    const { client: broken } = createNetwork({ a: failing('internal_error') });
    await expect(broken.run(run, options)).rejects.toThrow('The sandbox host lost the run');
    expect(told).toEqual(['http://a']);
    told.length = 0;
    const { client: none } = createNetwork({ a: unreachable });
    await expect(none.run(run, options)).rejects.toThrow('No sandbox host is available');
    expect(told).toEqual(['http://a', null]);
  });

  it('goes on to the next pool when no host of the first is there', async () => {
    const pools = [
      { name: 'a', urls: ['http://a1', 'http://a2'], colos: [], continents: [] },
      { name: 'b', urls: ['http://b1'], colos: [], continents: [] },
    ];
    const { client, journal } = createNetwork({ a1: unreachable, a2: failing('draining'), b1: answering('b') }, { pools });
    expect((await client.run(run, never)).stdout).toBe('b');
    expect(journal).toEqual(['POST a1/v1/runs', 'POST a1/v1/runs', 'POST a2/v1/runs', 'POST b1/v1/runs']);
  });

  it('takes an answer that is none of the host as a failed connection', async () => {
    const gateway: Handler = () => new Response('<h1>Bad gateway</h1>', { status: 502 });
    const { client } = createNetwork({ first: gateway, second: answering('second') });
    expect((await client.run(run, never)).stdout).toBe('second');
  });

  it('asks the same host again when the connection breaks, so that nothing runs twice', async () => {
    let starts = 0;
    const { handler } = serverOf(async ({ id }, { onStart }) => {
      starts += 1;
      onStart();
      return resultOf(id, { stdout: `start ${starts}` });
    });
    let calls = 0;
    const breaking: Handler = async (path, init) => {
      calls += 1;
      const response = await handler(path, init);
      if (calls > 1) return response;
      const broken = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"id":"run-1","exit'));
          controller.error(new TypeError('terminated'));
        },
      });
      return new Response(broken, { status: 200 });
    };
    const { client, journal } = createNetwork({ first: breaking, second: answering('second') });
    expect((await client.run(run, never)).stdout).toBe('start 1');
    expect(journal).toEqual(['POST first/v1/runs', 'POST first/v1/runs']);
    expect(starts).toBe(1);
  });

  describe('with network access', () => {
    const network: RunRequestInput = { ...run, limits: { networkEnabled: true } };
    const lost = 'The sandbox host was lost during the run. What the program did on the network may have happened, so it is not run again.';

    /** A real server whose programs are counted and may use the network, of a host that starts anew on `restart`. */
    function countingHost() {
      let starts = 0;
      const life = () =>
        createTestServer(
          async ({ id }, { onStart }) => {
            starts += 1;
            onStart();
            return resultOf(id, { stdout: `start ${starts}` });
          },
          {
            config: { hostId: 'h', images: ['alpine:3.20'], networkAllowed: true, maxOutputChars: 1, maxFileBytes: 1 },
            bootId: randomUUID(),
          },
        ).app;
      let app = life();
      const handler: Handler = (path, init) => app.request(path, init);
      const restart = () => {
        app = life();
      };
      return { handler, restart, starts: () => starts };
    }

    /** Lets the host do its work, and its first answer to a POST be lost. */
    const losingAnswer = (host: Handler, onLoss: () => Handler): Handler => {
      let next = host;
      let isLost = false;
      return async (path, init) => {
        const response = await next(path, init);
        if (init.method !== 'POST' || isLost) return response;
        isLost = true;
        next = onLoss();
        throw new TypeError('terminated');
      };
    };

    it('goes on to the next host when one is not there', async () => {
      const { handler } = countingHost();
      const { client, journal } = createNetwork({ first: unreachable, second: handler });
      expect((await client.run(network, never)).stdout).toBe('start 1');
      expect(journal).toEqual(['GET first/healthz', 'GET second/healthz', 'POST second/v1/runs']);
    });

    it('comes back to its run when the connection breaks', async () => {
      const host = countingHost();
      const { client, journal } = createNetwork({ first: losingAnswer(host.handler, () => host.handler) });
      expect((await client.run(network, never)).stdout).toBe('start 1');
      expect(journal).toEqual(['GET first/healthz', 'POST first/v1/runs', 'POST first/v1/runs']);
      expect(host.starts()).toBe(1);
    });

    it.each<[string, (host: ReturnType<typeof countingHost>) => Handler]>([
      ['is gone', () => unreachable],
      [
        'was started anew',
        (host) => {
          host.restart();
          return host.handler;
        },
      ],
      ['is hidden behind a gateway that answers for it', () => () => new Response('<h1>Bad gateway</h1>', { status: 502 })],
    ])('is not run again when its host %s', async (_, onLoss) => {
      const [first, second] = [countingHost(), countingHost()];
      const told: (string | null)[] = [];
      const { client, journal } = createNetwork({ first: losingAnswer(first.handler, () => onLoss(first)), second: second.handler });
      const failure = await client.run(network, { ...never, onHost: (host) => void told.push(host) }).catch((error) => error);
      expect(failure).toBeInstanceOf(SkillError);
      expect(failure).toMatchObject({ message: lost, beforeRun: false, transient: true });
      expect(journal.filter((line) => line.startsWith('POST'))).toEqual(['POST first/v1/runs', 'POST first/v1/runs']);
      expect(told).toEqual(['http://first']);
      expect([first.starts(), second.starts()]).toEqual([1, 0]);
      // The host is left out from now on.
      expect((await client.run({ ...run, id: 'next' }, never)).stdout).toBe('start 1');
      expect(second.starts()).toBe(1);
    });

    it('goes on when a host was started anew before it took the run', async () => {
      const [first, second] = [countingHost(), countingHost()];
      const restarting: Handler = async (path, init) => {
        const response = await first.handler(path, init);
        if (path === '/healthz') first.restart();
        return response;
      };
      const { client } = createNetwork({ first: restarting, second: second.handler });
      expect((await client.run(network, never)).stdout).toBe('start 1');
      expect([first.starts(), second.starts()]).toEqual([0, 1]);
    });

    it('is not given to a host that does not tell which life it is in', async () => {
      const ready: Handler = (path) => (path === '/healthz' ? new Response('{}') : Response.json(resultOf('run-1')));
      const { client, journal } = createNetwork({ first: ready });
      await expect(client.run(network, never)).rejects.toThrow('No sandbox host is available');
      expect(journal).toEqual(['GET first/healthz']);
    });

    it('without it, a program begins again elsewhere when its host is gone', async () => {
      const [first, second] = [countingHost(), countingHost()];
      const { client } = createNetwork({ first: losingAnswer(first.handler, () => unreachable), second: second.handler });
      expect((await client.run(run, never)).stdout).toBe('start 1');
      expect([first.starts(), second.starts()]).toEqual([1, 1]);
    });
  });

  it('leaves a failing host out for a while, then probes it', async () => {
    let isUp = false;
    const host = answering('first');
    const first: Handler = (path, init) => (isUp ? host(path, init) : unreachable(path, init));
    const { client, journal, pass } = createNetwork({ first, second: answering('second') });
    const runAgain = async () => {
      journal.length = 0;
      return (await client.run({ ...run, id: randomUUID() }, never)).stdout;
    };
    await runAgain();
    expect(await runAgain()).toBe('second');
    expect(journal).toEqual(['POST second/v1/runs']);
    pass(2_000);
    expect(await runAgain()).toBe('second');
    expect(journal).toEqual(['GET first/readyz', 'POST second/v1/runs']);
    isUp = true;
    pass(4_000);
    expect(await runAgain()).toBe('first');
    expect(journal).toEqual(['GET first/readyz', 'POST first/v1/runs']);
    expect(await runAgain()).toBe('first');
    expect(journal).toEqual(['POST first/v1/runs']);
  });

  it('asks a host that is left out when there is no other', async () => {
    let isUp = false;
    const host = answering('first');
    const { client } = createNetwork({ first: (path, init) => (isUp ? host(path, init) : unreachable(path, init)) });
    await expect(client.run(run, never)).rejects.toThrow('No sandbox host is available');
    isUp = true;
    expect((await client.run(run, never)).stdout).toBe('first');
  });

  it('prefers the less loaded host', async () => {
    const loaded =
      (load: string, stdout: string): Handler =>
      async () =>
        Response.json(resultOf('run-1', { stdout }), { headers: { 'x-sandbox-load': load } });
    const { client } = createNetwork({ busy: loaded('9/10', 'busy'), idle: loaded('1/10', 'idle') });
    expect((await client.run(run, never)).stdout).toBe('busy');
    expect((await client.run(run, never)).stdout).toBe('idle');
    expect((await client.run(run, never)).stdout).toBe('idle');
  });

  it.each([
    ['no pool', { pools: [] }],
    ['no secret', { secret: undefined }],
  ])('has no host with %s', async (_, change) => {
    const { client, journal } = createNetwork({ one: answering('x') }, change);
    await expect(client.run(run, never)).rejects.toEqual(new SkillError('No sandbox host is available', { beforeRun: true }));
    expect(journal).toEqual([]);
  });

  it.each<[string, Handler]>([
    ['none can be reached', unreachable],
    ['all are shutting down', failing('draining')],
    ['none has a Docker', failing('docker_unavailable')],
  ])('has no host when %s', async (_, handler) => {
    const { client } = createNetwork({ one: handler, two: handler });
    const failure = await client.run(run, never).catch((error) => error);
    expect(failure).toBeInstanceOf(SkillError);
    expect(failure).toMatchObject({ message: 'No sandbox host is available', beforeRun: true });
  });

  it.each<[string, Handler]>([
    ['all of them', failing('queue_full')],
    ['one, and the other cannot be reached', unreachable],
    ['one, and the other is shutting down', failing('draining')],
    ['one, and the other lacks the image', failing('image_missing')],
  ])('says that hosts are busy when those that are full are %s', async (_, second) => {
    const { client } = createNetwork({ one: failing('queue_full'), two: second });
    const failure = await client.run(run, never).catch((error) => error);
    expect(failure).toBeInstanceOf(SkillError);
    expect(failure).toMatchObject({ message: 'All sandbox hosts are busy', beforeRun: true });
  });

  it('says that the clocks differ where every host finds so, and leaves such hosts out', async () => {
    const { client, journal } = createNetwork({ one: failing('clock_skew') });
    const message = 'The clocks of the gateway and of the sandbox host differ too much';
    await expect(client.run(run, never)).rejects.toMatchObject({ message, beforeRun: true });
    expect(journal).toEqual(['POST one/v1/runs']);
    expect((await client.inspect())[0]?.hosts[0]).toMatchObject({ seen: { lastFailure: { reason: 'clock_skew' } } });
  });

  it('says which image is on no host', async () => {
    const { client } = createNetwork({ one: failing('image_missing'), two: unreachable });
    await expect(client.run(run, never)).rejects.toMatchObject({ message: 'Sandbox image is not installed: alpine:3.20', beforeRun: true });
  });

  it.each<[HostErrorCode, string]>([
    ['image_not_allowed', 'Sandbox image is not allowed: alpine:3.20'],
    ['unauthorized', 'The sandbox host does not accept the signature of this gateway'],
    ['internal_error', 'The sandbox host lost the run'],
    ['invalid_request', 'says invalid_request'],
    ['network_not_allowed', 'says network_not_allowed'],
    ['id_in_use', 'says id_in_use'],
    ['payload_too_large', 'says payload_too_large'],
    ['image_unusable', 'says image_unusable'],
  ])('gives up at once on %s', async (code, message) => {
    const { client, journal } = createNetwork({ one: failing(code), two: answering('no') });
    const failure = await client.run(run, never).catch((error) => error);
    expect(failure).toBeInstanceOf(SkillError);
    expect(failure).toMatchObject({ message, beforeRun: false });
    expect(journal).toEqual(['POST one/v1/runs']);
  });

  it.each<[string, Handler]>([
    ['is no result', () => Response.json({ id: 'run-1' })],
    ['names too many files', () => Response.json(resultOf('run-1', { skippedFiles: Array(101).fill({ path: 'a', reason: 'b' }) }))],
    [
      'names a file at too great length',
      () => Response.json(resultOf('run-1', { skippedFiles: [{ path: 'a'.repeat(513), reason: 'b' }] })),
    ],
    ['is no JSON', () => new Response('hello')],
    ['is too long', () => new Response(' '.repeat(30_000_000))],
    ['leads elsewhere', () => new Response(null, { status: 302, headers: { location: 'http://elsewhere' } })],
  ])('refuses an answer that %s', async (_, handler) => {
    const { client } = createNetwork({ one: handler });
    await expect(client.run(run, never)).rejects.toThrow('The sandbox host sent an answer that cannot be read');
  });

  it('refuses a run that is too large without asking', async () => {
    const { client, journal } = createNetwork({ one: answering('x') });
    await expect(client.run({ ...run, stdin: 'x'.repeat(20_971_520) }, never)).rejects.toThrow(
      'Program and files are larger than 20971520 bytes',
    );
    expect(journal).toEqual([]);
  });

  it('does not accept a host that knows another secret', async () => {
    const { client } = createNetwork({ one: answering('x') }, { secret: 'another secret of enough characters' });
    await expect(client.run(run, never)).rejects.toThrow('The sandbox host does not accept the signature of this gateway');
  });
});

describe('a caller who aborts', () => {
  it('kills the run', async () => {
    const { handler, killed } = serverOf((_, { onStart }) => {
      onStart();
      return new Promise(() => undefined);
    });
    const abortable: Handler = (path, init) =>
      Promise.race([
        handler(path, init),
        new Promise<never>((_, reject) => init.signal?.addEventListener('abort', () => reject(init.signal?.reason))),
      ]);
    const { client, journal } = createNetwork({ one: abortable, two: answering('two') });
    const leaving = new AbortController();
    const running = client.run(run, { signal: leaving.signal });
    await vi.waitFor(() => expect(journal).toEqual(['POST one/v1/runs']));
    leaving.abort();
    const failure = await running.catch((error) => error);
    expect(failure).toBeInstanceOf(SkillError);
    expect(failure).toMatchObject({ message: 'The run was cancelled', beforeRun: false });
    expect(journal).toEqual(['POST one/v1/runs', 'DELETE one/v1/runs/run-1']);
    expect(killed).toContain('run-1');
  });

  it('asks nobody when the signal has fired before', async () => {
    const { client, journal } = createNetwork({ one: answering('x') });
    await expect(client.run(run, { signal: AbortSignal.abort() })).rejects.toThrow('The run was cancelled');
    expect(journal).toEqual([]);
  });
});

describe('a host that takes a run and never answers', () => {
  it('is given up after the timeout of the run and a minute', async () => {
    const timeout = AbortSignal.timeout;
    const asked: number[] = [];
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      asked.push(ms);
      return timeout(ms / 1_000);
    });
    const silent: Handler = (_, init) =>
      new Promise((_resolve, reject) => {
        init.signal?.throwIfAborted();
        init.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      });
    const { client, journal } = createNetwork({ one: silent, two: answering('two') });
    await expect(client.run({ ...run, limits: { timeoutMs: 5_000 } }, never)).rejects.toThrow('The sandbox host did not answer in time');
    vi.restoreAllMocks();
    expect(asked[0]).toBe(65_000);
    expect(journal).toEqual(['POST one/v1/runs', 'DELETE one/v1/runs/run-1']);
  });

  it('is given up for another, and left out, when it does not say either that it is there', async () => {
    const timeout = AbortSignal.timeout;
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms === 1_000 ? 1 : ms));
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const hung: Handler = (_, init) =>
      new Promise((_resolve, reject) => init.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
    const { client, journal } = createNetwork({ one: hung, two: answering('two') });
    let result: RunResult | undefined;
    const running = client.run(run, never).then((answer) => {
      result = answer;
    });
    for (let looks = 0; result === undefined && looks < 100; looks++) {
      await vi.advanceTimersByTimeAsync(2_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    vi.useRealTimers();
    await running;
    vi.restoreAllMocks();
    expect(result?.stdout).toBe('two');
    expect(journal.filter((asked) => asked.startsWith('POST'))).toEqual(['POST one/v1/runs', 'POST two/v1/runs']);
  });
});

describe('probe', () => {
  const notReady: Handler = () => Response.json({ ready: false }, { status: 503 });
  it.each<[string, Record<string, Handler>, string]>([
    ['one is ready', { one: notReady, two: answering('') }, 'ok'],
    ['none is ready', { one: notReady, two: unreachable }, 'unavailable'],
    ['there is none', {}, 'not_configured'],
  ])('when %s', async (_, hosts, status) => {
    expect(await createNetwork(hosts).client.probe()).toBe(status);
  });

  it('is not configured without a secret', async () => {
    expect(await createNetwork({ one: answering('') }, { secret: undefined }).client.probe()).toBe('not_configured');
  });

  it('does not wait for a host that does not answer', async () => {
    const silent: Handler = (_, init) =>
      new Promise((_resolve, reject) => init.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
    expect(await createNetwork({ one: silent }).client.probe()).toBe('unavailable');
  });
});
