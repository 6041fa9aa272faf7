import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { SANDBOX_LABEL } from '../../sandbox-host/create-body.ts';
import { createDockerEngine } from '../../sandbox-host/docker-engine.ts';
import { LIFE_HEADER, type RunResult } from '../../src/contract/runs.ts';
import { createSandboxClient, type SandboxClient } from '../../src/sandbox/client.ts';
import { watchContainers } from '../support/container-events.ts';
import { socketPath, TEST_SECRET } from '../support/docker.ts';
import { docker } from '../support/docker-cli.ts';
import { buildHostImages } from '../support/host-image.ts';
import { freePort } from '../support/sandbox-process.ts';

const suffix = randomUUID().slice(0, 8);
const stackName = `omniroute-test-${suffix}`;
const service = `${stackName}_sandbox-host`;
const images = [`omniroute-sandbox-host:${suffix}-1`, `omniroute-sandbox-host:${suffix}-2`] as const;
const SLOTS = [1, 2] as const;
const patient = { timeout: 60_000, interval: 200 };

let hasJoined = false;
let prefix: string;
let hostIds: string[];
let urls: string[];
let client: SandboxClient;

async function isFree(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isTaken = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return !isTaken;
}

/** What two free ports begin with; the slot follows. */
async function findPrefix(): Promise<string> {
  const candidate = String(await freePort()).slice(0, 4);
  const areFree = await Promise.all(SLOTS.map((slot) => isFree(Number(`${candidate}${slot}`))));
  return areFree.every(Boolean) ? candidate : findPrefix();
}

const deploy = (image: string) =>
  docker(['stack', 'deploy', '--resolve-image', 'never', '-c', 'deploy/swarm/stack.yml', '-c', 'deploy/swarm/one-node.yml', stackName], {
    env: {
      SANDBOX_HOST_IMAGE: image,
      SANDBOX_SECRET_NAME: `secret-${suffix}`,
      SANDBOX_ADDRESS: '127.0.0.1',
      SANDBOX_PORT_PREFIX: prefix,
      SANDBOX_WARM_MAX: '0',
      SKILLS_SANDBOX_NETWORK_ENABLED: 'true',
    },
  });

const lives = () => Promise.all(urls.map(async (url) => (await fetch(`${url}/healthz`)).headers.get(LIFE_HEADER)));

const statuses = async () => (await client.inspect()).flatMap(({ hosts }) => hosts.map(({ status, hostId }) => `${hostId} ${status}`));

beforeAll(async () => {
  await buildHostImages(images);
  if ((await docker(['info', '--format', '{{.Swarm.LocalNodeState}}'])) === 'inactive') {
    await docker(['swarm', 'init', '--advertise-addr', '127.0.0.1']);
    hasJoined = true;
  }
  const nodeId = await docker(['info', '--format', '{{.Swarm.NodeID}}']);
  await docker(['node', 'update', '--label-add', 'omniroute.sandbox=true', nodeId]);
  await docker(['secret', 'create', `secret-${suffix}`, '-'], { input: Readable.from([TEST_SECRET]) });
  prefix = await findPrefix();
  hostIds = SLOTS.map((slot) => `${nodeId}-${slot}`);
  urls = SLOTS.map((slot) => `http://127.0.0.1:${prefix}${slot}`);
  client = createSandboxClient({
    pools: [{ name: 'swarm', urls, colos: [], continents: [] }],
    secret: TEST_SECRET,
    fetch,
    now: Date.now,
    newId: randomUUID,
    random: Math.random,
  });
  await deploy(images[0]);
});

afterAll(async () => {
  await docker(['stack', 'rm', stackName]).catch(() => undefined);
  const tasks = () => docker(['ps', '--all', '--quiet', '--filter', `label=com.docker.stack.namespace=${stackName}`]);
  await vi.waitFor(async () => expect(await tasks()).toBe(''), patient);
  await docker(['secret', 'rm', `secret-${suffix}`]).catch(() => undefined);
  if (hasJoined) await docker(['swarm', 'leave', '--force']);
  await docker(['image', 'rm', ...images]).catch(() => undefined);
});

it('a stack on a swarm of one node is updated host by host under load, and no run is lost or run twice', async () => {
  await expect.poll(statuses, patient).toEqual(hostIds.map((hostId) => `${hostId} ready`));
  const before = await lives();
  const containers = await watchContainers(hostIds);
  const runs: { id: string; result: Promise<RunResult> }[] = [];
  let isOver = false;
  const loop = async (networkEnabled: boolean) => {
    while (!isOver) {
      const id = randomUUID();
      const request = { id, image: 'alpine:3.20', command: ['sh', '-c', `sleep 0.5; echo ${id}`], limits: { networkEnabled } };
      const result = client.run(request, { signal: new AbortController().signal });
      runs.push({ id, result });
      await result.catch(() => undefined);
    }
  };
  const loops = [loop(false), loop(false), loop(true)];
  await expect.poll(() => runs.length, patient).toBeGreaterThan(6);

  await deploy(images[1]);
  const update = () => docker(['service', 'inspect', service, '--format', '{{.UpdateStatus.State}}']);
  await expect.poll(update, { timeout: 100_000, interval: 500 }).toBe('completed');
  await expect.poll(statuses, patient).toEqual(hostIds.map((hostId) => `${hostId} ready`));
  const count = runs.length;
  await expect.poll(() => runs.length, patient).toBeGreaterThan(count + 6);
  isOver = true;
  await Promise.all(loops);
  containers.close();

  expect((await lives()).filter((life) => before.includes(life))).toEqual([]);
  const [running] = (await docker(['service', 'inspect', service, '--format', '{{.Spec.TaskTemplate.ContainerSpec.Image}}'])).split('@');
  expect(running).toBe(images[1]);
  const ended = await Promise.allSettled(runs.map(({ result }) => result));
  expect(ended.filter(({ status }) => status === 'rejected')).toEqual([]);
  const results = ended.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  expect(results.map(({ id, stdout, exitCode, killed }) => ({ id, stdout, exitCode, killed }))).toEqual(
    runs.map(({ id }) => ({ id, stdout: `${id}\n`, exitCode: 0, killed: false })),
  );
  expect(containers.starts.map(({ runId }) => runId).sort()).toEqual(runs.map(({ id }) => id).sort());

  // A host that has gone leaves nothing.
  const engine = createDockerEngine(socketPath);
  const left = async () => (await Promise.all(hostIds.map((hostId) => engine.listByLabel(`${SANDBOX_LABEL}=${hostId}`)))).flat();
  await expect.poll(left, patient).toEqual([]);
}, 150_000);
