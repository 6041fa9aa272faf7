import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SANDBOX_LABEL } from '../../sandbox-host/create-body.ts';
import { createDockerEngine } from '../../sandbox-host/docker-engine.ts';
import { type RunEvent, type RunResult, runEvent } from '../../src/contract/runs.ts';
import { newRunId, socketPath, TEST_SECRET } from '../support/docker.ts';
import { type SandboxProcess, startSandboxProcess } from '../support/sandbox-process.ts';
import { signedRequest } from '../support/sandbox-request.ts';

const hostId = `test-${randomUUID()}`;
let host: SandboxProcess;
beforeAll(async () => {
  host = await startSandboxProcess({
    SANDBOX_SECRET: TEST_SECRET,
    SANDBOX_HOST_ID: hostId,
    DOCKER_HOST: `unix://${socketPath}`,
    SANDBOX_WARM_MAX: '0',
  });
});
afterAll(async () => {
  host.signal('SIGTERM');
  host.signal('SIGTERM');
  await host.exited;
});

const send = async (method: string, path: string, options: Parameters<typeof signedRequest>[3] = {}) =>
  fetch(host.url + path, await signedRequest(TEST_SECRET, method, path, options));
const engine = createDockerEngine(socketPath);
const containers = () => engine.listByLabel(`${SANDBOX_LABEL}=${hostId}`);
const within = { timeout: 20_000 };

/** Starts a shell script and keeps its events as they come. */
async function follow(script: string, change: { id?: string; limits?: object } = {}) {
  const body = { id: newRunId(), image: 'alpine:3.20', command: ['sh', '-c', script], ...change };
  const leaving = new AbortController();
  const response = await send('POST', '/v1/runs', { body, accept: 'application/x-ndjson', signal: leaving.signal });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
  const events: RunEvent[] = [];
  async function read(): Promise<void> {
    let line = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
      line += first;
      for (const next of others) {
        events.push(runEvent.parse(JSON.parse(line)));
        line = next;
      }
    }
  }
  const done = read();
  done.catch(() => {});
  const result = async (): Promise<RunResult> => {
    await done;
    const last = events.at(-1);
    if (last?.type !== 'result') throw new Error(`No result but ${JSON.stringify(last)}`);
    const { type: _, ...rest } = last;
    return rest;
  };
  return { id: body.id, body, events, result, leave: () => leaving.abort() };
}

const textOf = (events: readonly RunEvent[], stream: 'stdout' | 'stderr') =>
  events.flatMap((event) => (event.type === stream ? event.text : [])).join('');

describe('the stream of a run', () => {
  it('has a line while the program goes on, and a prompt that ends no line', async () => {
    const { id, events, result } = await follow("echo one; printf 'Name? ' >&2; sleep 60");
    const seen: RunEvent[] = [
      { type: 'stdout', text: 'one\n' },
      { type: 'stderr', text: 'Name? ' },
    ];
    await expect.poll(() => events, within).toHaveLength(2);
    // Docker carries the two streams side by side.
    expect(events).toEqual(expect.arrayContaining(seen));
    const { runs } = (await (await send('GET', '/v1/runs')).json()) as { runs: { id: string; state: string }[] };
    expect(runs).toContainEqual(expect.objectContaining({ id, state: 'running' }));
    await send('DELETE', `/v1/runs/${id}`);
    expect(await result()).toMatchObject({ id, killed: true, stdout: 'one\n', stderr: 'Name? ' });
  });

  it('puts characters together that come in pieces', async () => {
    const { events, result } = await follow(
      "printf '\\303'; sleep 0.5; printf '\\251\\360\\237'; sleep 0.5; printf '\\230\\200'; sleep 0.5; printf '\\303'",
    );
    expect((await result()).stdout).toBe('é😀\ufffd');
    expect(textOf(events, 'stdout')).toBe('é😀\ufffd');
    for (const event of events) if (event.type === 'stdout') expect(event.text.isWellFormed()).toBe(true);
  });

  it.each([
    ['many lines', 'i=0; while [ $i -lt 3000 ]; do echo "line $i"; i=$((i + 1)); done', {}, false],
    ['one long line', "head -c 90000 /dev/zero | tr '\\0' x", {}, false],
    ['a flood', 'yes | tr y é', { maxOutputChars: 30_001 }, true],
    ['both streams by turns', 'i=0; while [ $i -lt 200 ]; do echo "out $i"; echo "err $i" >&2; i=$((i + 1)); done', {}, false],
    ['a timeout', 'echo begun; sleep 60', { timeoutMs: 700 }, false],
  ])('tells what the result holds, no more and no less: %s', async (_, script, limits, truncated) => {
    const { events, result } = await follow(script, { limits: { cpuLimit: 1_000, ...limits } });
    const { stdout, stderr, ...rest } = await result();
    expect(rest.truncated).toBe(truncated);
    expect(stdout).not.toBe('');
    expect([textOf(events, 'stdout'), textOf(events, 'stderr')]).toEqual([stdout, stderr]);
  });

  it('is the same for whoever sends the id again, during the run and after it', async () => {
    const first = await follow('head -c 9 /dev/urandom | md5sum; sleep 1; echo end');
    await expect.poll(() => first.events, within).not.toEqual([]);
    const second = await follow('', first.body);
    const [result, joined] = [await first.result(), await second.result()];
    expect(joined).toEqual(result);
    for (const { events } of [first, second]) expect(textOf(events, 'stdout')).toBe(result.stdout);
    const late = await follow('', first.body);
    expect(await late.result()).toEqual(result);
    expect(textOf(late.events, 'stdout')).toBe(result.stdout);
    expect(await (await send('POST', '/v1/runs', { body: first.body })).json()).toEqual(result);
  });

  it('leaves no container when its only reader goes', async () => {
    const { events, leave } = await follow('echo here; sleep 60');
    await expect.poll(() => events, within).toHaveLength(1);
    expect(await containers()).not.toEqual([]);
    leave();
    await expect.poll(containers, within).toEqual([]);
  });
});
