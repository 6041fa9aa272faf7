import { describe, expect, it } from 'vitest';
import { HostError } from '../../sandbox-host/host-error.ts';
import { BROWSER_NOT_CONFIGURED, type BrowserRunRequest, type BrowserRunRequestInput } from '../../src/contract/browser-runs.ts';
import type { HostErrorCode } from '../../src/contract/runs.ts';
import { createSandboxClient } from '../../src/sandbox/client.ts';
import { SkillError } from '../../src/skills/define.ts';
import { createTestServer, SERVER_SECRET } from '../support/sandbox-server.ts';

const request: BrowserRunRequestInput = { id: 'run-1', steps: [{ action: 'navigate', url: 'https://example.com/' }] };
const never = { signal: new AbortController().signal };

type Join = (request: BrowserRunRequest, signal: AbortSignal) => Promise<object>;

const resultOf = (id: string) => {
  const page = { action: 'navigate', url: 'https://example.com/', title: 'T', status: 200, text: 'x', truncated: false, screenshot: null };
  return { id, results: [page], error: null, timedOut: false, oomKilled: false, killed: false, durationMs: 1, queuedMs: 0 };
};
const failing =
  (code: HostErrorCode, message = `says ${code}`): Join =>
  async () => {
    throw new HostError(code, message);
  };

/** A client of real servers whose browsers do as the test wants, in one pool, asked in this order. */
function createNetwork(...hosts: Join[]) {
  const asked: string[] = [];
  const servers = hosts.map((join) => {
    const killed: string[] = [];
    const kill = (id: string) => killed.push(id) > 0;
    const browsers = { join: join as never, kill, killAll: async () => 0, active: [], containers: [] };
    const runner = { kill: () => false, killAll: async () => 0, runningContainers: [] };
    return { app: createTestServer(() => Promise.reject(new Error('no program')), { browsers, runner }).app, killed };
  });
  const client = createSandboxClient({
    pools: hosts.length === 0 ? [] : [{ name: 'all', urls: hosts.map((_, index) => `http://${index}.host`), colos: [], continents: [] }],
    secret: SERVER_SECRET,
    now: () => Date.now(),
    newId: () => crypto.randomUUID(),
    random: () => 0,
    async fetch(url, init) {
      const { hostname, pathname, search } = new URL(url);
      asked.push(`${init.method ?? 'GET'} ${hostname}${pathname}`);
      return servers[Number(hostname[0])]?.app.request(pathname + search, init) as Promise<Response>;
    },
  });
  return { client, asked, servers };
}

describe('browse', () => {
  it('runs steps on a host, which fills in what was left out', async () => {
    const requests: BrowserRunRequest[] = [];
    const { client, asked } = createNetwork(async (received) => {
      requests.push(received);
      return resultOf(received.id);
    });
    expect(await client.browse(request, never)).toEqual(resultOf('run-1'));
    expect(requests).toEqual([{ ...request, timeoutMs: 60_000, maxTextChars: 1_000 }]);
    expect(asked).toEqual(['GET 0.host/healthz', 'POST 0.host/v1/browser-runs']);
  });

  it('goes on to a host that has a browser and a place', async () => {
    const { client, asked } = createNetwork(failing('browser_disabled'), failing('queue_full'), async ({ id }) => resultOf(id));
    expect(await client.browse(request, never)).toMatchObject({ error: null });
    expect(asked.filter((line) => line.startsWith('POST'))).toHaveLength(3);
    // Hosts that only lack a browser are as good as before for programs.
    const reports = (await client.inspect()).flatMap(({ hosts }) => hosts.map(({ seen }) => seen.failures));
    expect(reports).toEqual([0, 0, 0]);
  });

  it('says why there is no browser when no host has one', async () => {
    const { client } = createNetwork(
      failing('browser_disabled', 'Browser automation skill is disabled. Because.'),
      failing('browser_disabled'),
    );
    await expect(client.browse(request, never)).rejects.toEqual(new SkillError('Browser automation skill is disabled. Because.'));
  });

  it('says how to get one where there is no host', async () => {
    await expect(createNetwork().client.browse(request, never)).rejects.toEqual(new SkillError(BROWSER_NOT_CONFIGURED));
    expect(BROWSER_NOT_CONFIGURED).toMatch(/^Browser automation skill is disabled\. Set BROWSER_IMAGE /);
  });

  it('says that all are busy when one that has a browser is', async () => {
    const { client } = createNetwork(failing('browser_disabled'), failing('queue_full'));
    await expect(client.browse(request, never)).rejects.toEqual(new SkillError('All sandbox hosts are busy', { beforeRun: true }));
  });

  it.each([
    [{ ...request, steps: [] }, 'steps: Too small: expected array to have >=1 items'],
    [{ ...request, steps: [{ action: 'extract' }] }, 'steps: The first step needs a url'],
    [{ ...request, steps: [{ action: 'navigate', url: 'file:///etc/passwd' }] }, 'steps.0.url: Invalid URL'],
    [
      { ...request, steps: [{ action: 'click', url: 'https://example.com/' }] },
      'steps.0.selector: Invalid input: expected string, received undefined',
    ],
    [{ ...request, extra: 1 }, 'Unrecognized key: "extra"'],
  ])('is refused by the host when it is %j', async (bad, message) => {
    const { client } = createNetwork(async () => resultOf('run-1'));
    await expect(client.browse(bad as BrowserRunRequestInput, never)).rejects.toEqual(new SkillError(message));
  });

  it('refuses an answer that is none', async () => {
    const { client } = createNetwork(async () => ({ ...resultOf('run-1'), results: 'many' }));
    await expect(client.browse(request, never)).rejects.toEqual(new SkillError('The sandbox host sent an answer that cannot be read'));
  });

  it('kills the run when its caller leaves', async () => {
    const leaving = new AbortController();
    const { client, servers } = createNetwork((_, signal) => {
      const left = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('left'))));
      leaving.abort();
      return left;
    });
    await expect(client.browse(request, { signal: leaving.signal })).rejects.toEqual(new SkillError('The run was cancelled'));
    expect(servers[0]?.killed).toEqual(['run-1']);
  });
});
