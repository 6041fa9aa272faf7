import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SANDBOX_LABEL } from '../../sandbox-host/create-body.ts';
import { createDockerEngine } from '../../sandbox-host/docker-engine.ts';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import { bridgeAddress, watchContainers } from '../support/container-events.ts';
import { socketPath, TEST_SECRET } from '../support/docker.ts';
import { manageStack } from '../support/manage-stack.ts';
import { freePort, type SandboxProcess, startSandboxProcess } from '../support/sandbox-process.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

const NAMES = ['eu-1', 'eu-2', 'us-1'] as const;
type Name = (typeof NAMES)[number];
const SUFFIX = randomUUID().slice(0, 8);
const hostIdOf = (name: Name) => `pools-${name}-${SUFFIX}`;
/** Programs of either kind have an image of their own, which Docker's events tell. */
const IMAGES = { closed: 'alpine:3.20', network: 'node:22-alpine' } as const;
type Kind = keyof typeof IMAGES;
const PROGRAM_SECONDS = 1;
const LOST = 'The sandbox host was lost during the run. What the program did on the network may have happened, so it is not run again.';
const patient = { timeout: 40_000, interval: 20 };

interface Outcome {
  kind: Kind;
  token: string;
  execution: JsonObject;
}

const ports = new Map<Name, string>();
const hosts = new Map<Name, SandboxProcess>();
/** How often the program with a token was seen on the network. */
const effects = new Map<string, number>();
let stack: TestStack;
let containers: Awaited<ReturnType<typeof watchContainers>>;
let world: Server;

async function startHost(name: Name): Promise<void> {
  const variables = {
    SANDBOX_SECRET: TEST_SECRET,
    SANDBOX_HOST_ID: hostIdOf(name),
    SANDBOX_PORT: ports.get(name) ?? '',
    DOCKER_HOST: `unix://${socketPath}`,
    // Containers that wait for a run do not have its label.
    SANDBOX_WARM_MAX: '0',
    SANDBOX_DRAIN_SECONDS: '30',
    SKILLS_SANDBOX_NETWORK_ENABLED: '1',
  };
  hosts.set(name, await startSandboxProcess(variables));
}

const urlOf = (name: Name) => `http://127.0.0.1:${ports.get(name)}`;

beforeAll(async () => {
  world = createServer((request, response) => {
    const token = request.url?.slice(1) ?? '';
    effects.set(token, (effects.get(token) ?? 0) + 1);
    response.end('seen');
  }).listen(0, await bridgeAddress());
  await once(world, 'listening');
  for (const name of NAMES) ports.set(name, String(await freePort()));
  containers = await watchContainers(NAMES.map(hostIdOf));
  const pools = [
    { name: 'europe', urls: [urlOf('eu-1'), urlOf('eu-2')], continents: ['EU'] },
    { name: 'america', urls: [urlOf('us-1')], continents: ['NA'] },
  ];
  [stack] = await Promise.all([
    startTestStack({ SANDBOX_POOLS: JSON.stringify(pools), SANDBOX_SECRET: TEST_SECRET, SKILLS_SANDBOX_NETWORK_ENABLED: '1' }),
    ...NAMES.map(startHost),
  ]);
});

afterAll(async () => {
  containers?.close();
  for (const host of hosts.values()) {
    host.signal('SIGTERM');
    host.signal('SIGTERM');
    await host.exited;
  }
  await stack?.stop();
  world?.close();
});

/** Runs one program, which answers its token and, with network access, tells it to the world. */
async function runProgram(kind: Kind, continent: string): Promise<Outcome> {
  const token = randomUUID();
  const { address, port } = world.address() as AddressInfo;
  const tell = kind === 'network' ? `wget -q -O /dev/null http://${address}:${port}/${token}; ` : '';
  const script = `${tell}sleep ${PROGRAM_SECONDS}; echo ${token}`;
  const input = { command: 'sh', args: ['-c', script], image: IMAGES[kind], networkEnabled: kind === 'network', timeoutMs: 30_000 };
  const response = await fetch(`${stack.url}/api/skills/executions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${stack.managementToken}`,
      'content-type': 'application/json',
      // As Cloudflare would tell the worker.
      'mf-cf-blob': JSON.stringify({ continent }),
    },
    body: JSON.stringify({ skillName: 'execute_command', input, sessionId: SUFFIX }),
  });
  const body = (await response.json()) as JsonObject;
  expect(response.status, JSON.stringify(body)).toBe(200);
  return { kind, token, execution: body.execution as JsonObject };
}

/** Keeps programs of both kinds going from two continents until it is stopped. */
function startLoad() {
  const outcomes: Outcome[] = [];
  let isOver = false;
  const loop = async (kind: Kind, continent: string) => {
    while (!isOver) outcomes.push(await runProgram(kind, continent));
  };
  const loops = (['closed', 'network'] as const).flatMap((kind) => [loop(kind, 'EU'), loop(kind, 'EU'), loop(kind, 'NA')]);
  return {
    outcomes,
    /** Resolves once as many more programs have succeeded. */
    async succeed(count: number) {
      const successes = () => outcomes.filter(({ execution }) => execution.status === 'success').length;
      const goal = successes() + count;
      await expect.poll(successes, patient).toBeGreaterThanOrEqual(goal);
    },
    async stop() {
      isOver = true;
      await Promise.all(loops);
      return outcomes;
    },
  };
}

/** Waits until the host has programs of both kinds in their midst, then kills it. */
async function killInMidRun(name: Name): Promise<void> {
  const isInMidst = (kind: Kind) =>
    containers.starts.some(
      ({ hostId, image, hasEnded, at }) =>
        hostId === hostIdOf(name) && image === IMAGES[kind] && !hasEnded && Date.now() - at < PROGRAM_SECONDS * 600,
    );
  await expect.poll(() => isInMidst('closed') && isInMidst('network'), patient).toBe(true);
  hosts.get(name)?.signal('SIGKILL');
  await hosts.get(name)?.exited;
}

const reportOf = async (name: Name): Promise<JsonObject | undefined> => {
  const { pools } = await manageStack(stack).call('GET', '/api/sandbox/pools');
  return objectsOf(pools)
    .flatMap((pool) => objectsOf(pool.hosts))
    .find(({ url }) => url === urlOf(name));
};

describe('three hosts in two regions', () => {
  it('shows each with its load', async () => {
    for (const name of NAMES) {
      expect(await reportOf(name)).toMatchObject({
        status: 'ready',
        hostId: hostIdOf(name),
        running: 0,
        waiting: 0,
        capacity: expect.any(Number),
        warm: { ready: 0, making: 0, target: 0 },
        docker: true,
        seen: { inFlight: 0, failures: 0, lastFailure: null },
      });
    }
  });

  it('gives a program to the region that it comes from', async () => {
    const [european, american, asian] = await Promise.all(['EU', 'NA', 'AS'].map((continent) => runProgram('closed', continent)));
    const regionOf = (outcome: Outcome | undefined) =>
      containers.starts.find(({ runId }) => runId === outcome?.execution.id)?.hostId.slice('pools-'.length, 'pools-eu'.length);
    expect([european, american, asian].map(regionOf)).toEqual(['eu', 'us', 'eu']);
  });

  it('loses no run and runs none twice while one after the other is killed under load', async () => {
    const load = startLoad();
    await killInMidRun('eu-1');
    await load.succeed(4);
    await expect.poll(async () => (await reportOf('eu-1'))?.status, patient).toBe('unreachable');
    expect(await reportOf('eu-1')).toMatchObject({
      running: null,
      seen: { failures: expect.any(Number), lastFailure: { at: expect.any(String), reason: expect.any(String) } },
    });
    await startHost('eu-1');

    hosts.get('eu-2')?.signal('SIGTERM');
    expect(await hosts.get('eu-2')?.exited).toBe(0);
    await load.succeed(4);
    await startHost('eu-2');

    await killInMidRun('us-1');
    await load.succeed(4);
    const outcomes = await load.stop();

    const closed = outcomes.filter(({ kind }) => kind === 'closed');
    const networked = outcomes.filter(({ kind }) => kind === 'network');
    const lost = networked.filter(({ execution }) => execution.status !== 'success');
    // Nothing is left of a program without network whose host is gone: it has begun again elsewhere, and every one has its answer.
    for (const { token, execution } of closed)
      expect(execution).toMatchObject({ errorMessage: null, status: 'success', output: { stdout: `${token}\n`, exitCode: 0 } });
    // What a program told the world cannot be taken back: it was told once, or, of one whose host was lost, at most once.
    for (const { token, execution } of networked.filter((outcome) => !lost.includes(outcome))) {
      expect(execution).toMatchObject({ status: 'success', output: { stdout: `${token}\n`, exitCode: 0 } });
      expect(effects.get(token)).toBe(1);
    }
    for (const { token, execution } of lost) {
      expect(execution).toMatchObject({ status: 'error', errorMessage: LOST });
      expect(effects.get(token) ?? 0).toBeLessThanOrEqual(1);
    }
    expect(lost.length).toBeGreaterThan(0);

    // A container per program, and another one only for those without network that a killed host had begun.
    const killed = [hostIdOf('eu-1'), hostIdOf('us-1')];
    const startsOf = ({ execution }: Outcome) =>
      containers.starts.filter(({ runId }) => runId === execution.id).map(({ hostId }) => hostId);
    for (const outcome of networked) {
      // One that was lost may not have come as far as a container.
      const least = lost.includes(outcome) ? 0 : 1;
      expect([least, 1]).toContain(startsOf(outcome).length);
    }
    for (const outcome of closed) {
      const abandoned = startsOf(outcome).slice(0, -1);
      expect(new Set(startsOf(outcome)).size).toBe(abandoned.length + 1);
      expect(abandoned.filter((hostId) => !killed.includes(hostId))).toEqual([]);
    }
    expect(closed.some((outcome) => startsOf(outcome).length > 1)).toBe(true);

    // One row for each, which says what its caller was told.
    const rows = await manageStack(stack).executionsOf(SUFFIX);
    const rowOf = new Map(rows.map((row) => [row.id, row]));
    for (const { execution } of outcomes) expect(rowOf.get(String(execution.id))?.status).toBe(execution.status);
  }, 90_000);

  it('leaves no container of the hosts that were killed', async () => {
    const engine = createDockerEngine(socketPath);
    const left = () => Promise.all(NAMES.map((name) => engine.listByLabel(`${SANDBOX_LABEL}=${hostIdOf(name)}`)));
    await expect.poll(async () => (await left()).flat(), patient).toEqual([]);
  });
});
