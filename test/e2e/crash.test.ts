import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isolateEnvironment } from '../../dev/stack/isolated-environment.ts';
import { startStack } from '../../dev/stack.ts';
import { SANDBOX_LABEL } from '../../sandbox-host/create-body.ts';
import { createDockerEngine } from '../../sandbox-host/docker-engine.ts';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import { socketPath } from '../support/docker.ts';
import { listDescendants } from '../support/processes.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'omniroute-crash-'));
let env: Record<string, string | undefined>;
beforeAll(async () => {
  env = { ...(await isolateEnvironment(process.env)), DATA_DIR: dataDir, SANDBOX_HOST_ID: `crash-${process.pid}` };
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** The stack on the same data and ports in every life, with a call for the management. */
async function live() {
  const stack = await startStack({ env, log: () => {} });
  const call = async (path: string, body?: object, headers: Record<string, string> = {}): Promise<JsonObject> => {
    const response = await fetch(`${stack.url}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${stack.managementToken}`, 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as JsonObject;
  };
  return { ...stack, call, executions: async () => objectsOf((await call('/api/skills/executions?limit=200')).data) };
}

const listContainers = async () =>
  (await createDockerEngine(socketPath).listByLabel(`${SANDBOX_LABEL}=crash-${process.pid}`)).map(({ id }) => id);

const killPart = (name: string): void => {
  const part = listDescendants(process.pid).find(({ command }) => command.includes(name));
  if (part === undefined) throw new Error(`no process runs ${name}`);
  process.kill(part.pid, 'SIGKILL');
};

describe('kill -9 in mid-run', () => {
  it.each(['workerd serve', 'dev/worker.ts', 'sandbox-host/start.mjs', 'dev/libsql-server.ts'])(
    'of %s: afterwards nothing runs, no container stays and nothing written is lost',
    async (part) => {
      const first = await live();
      const write = { skillName: 'file_write', input: { path: `${part.replaceAll(/\W/g, '-')}.txt`, content: part } };
      expect(await first.call('/api/skills/executions', write)).toMatchObject({ execution: { status: 'success' } });
      const sleeper = { skillName: 'eval_code', input: { code: 'setTimeout(() => {}, 30_000)', timeoutMs: 40_000 }, sessionId: part };
      const claim = { 'idempotency-key': part.replaceAll(/\W/g, '-') };
      const running = first.call('/api/skills/executions', sleeper, claim).catch(() => 'cut off');
      const status = async (stack: Awaited<ReturnType<typeof live>>) =>
        (await stack.executions()).find((execution) => execution.sessionId === part)?.status;
      await expect.poll(() => status(first), { timeout: 15_000 }).toBe('running');
      await expect.poll(listContainers, { timeout: 10_000 }).not.toEqual([]);
      const before = await listContainers();
      killPart(part);
      expect(await first.ended).toEqual(expect.any(String));
      await running;

      const second = await live();
      try {
        await expect.poll(() => status(second), { timeout: 40_000, interval: 500 }).toBe('error');
        expect((await second.executions()).filter((execution) => execution.status === 'running')).toEqual([]);
        // Asked for again it is not run again: nobody knows how far it came.
        const own = async () => (await second.executions()).filter((execution) => execution.sessionId === part);
        const [interrupted] = await own();
        expect(await second.call('/api/skills/executions', sleeper, claim)).toEqual({ execution: interrupted });
        expect(await own()).toHaveLength(1);
        expect(interrupted).toMatchObject({ durationMs: expect.any(Number), finishedAt: expect.any(String) });
        const left = async () => (await listContainers()).filter((id) => before.includes(id));
        await expect.poll(left, { timeout: 10_000 }).toEqual([]);
        const read = { skillName: 'file_read', input: { path: write.input.path } };
        expect(await second.call('/api/skills/executions', read)).toMatchObject({
          execution: { status: 'success', output: { content: part } },
        });
      } finally {
        await second.stop();
      }
      expect(await listContainers()).toEqual([]);
    },
    120_000,
  );
});
