import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createParser } from 'eventsource-parser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SANDBOX_LABEL } from '../../sandbox-host/create-body.ts';
import { createDockerEngine } from '../../sandbox-host/docker-engine.ts';
import type { JsonObject } from '../../src/json.ts';
import { socketPath } from '../support/docker.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

const CLI = join(import.meta.dirname, '../../cli/main.ts');
const HOST_ID = `stream-${process.pid}`;
const within = { timeout: 30_000 };

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack({ SANDBOX_HOST_ID: HOST_ID, SANDBOX_WARM_MAX: '0' });
});
afterAll(() => stack.stop());

const call = async (path: string): Promise<JsonObject> =>
  (await (await fetch(stack.url + path, { headers: { authorization: `Bearer ${stack.apiKey}` } })).json()) as JsonObject;
const containers = () => createDockerEngine(socketPath).listByLabel(`${SANDBOX_LABEL}=${HOST_ID}`);

async function follow(input: JsonObject) {
  const leaving = new AbortController();
  const response = await fetch(`${stack.url}/api/skills/executions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ skillName: 'eval_code', input: { language: 'python', ...input } }),
    signal: leaving.signal,
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  const events: [string | undefined, JsonObject][] = [];
  const parser = createParser({ onEvent: ({ event, data }) => void events.push([event, JSON.parse(data) as JsonObject]) });
  async function read(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) parser.feed(decoder.decode(chunk, { stream: true }));
  }
  const done = read();
  done.catch(() => {});
  return { events, done, leave: () => leaving.abort() };
}

const TWO_LINES = "import time\nprint('one', flush=True)\ntime.sleep(3)\nprint('two ü')\nopen('made.txt', 'w').write('x')";

describe('an execution that is watched', () => {
  it('tells a line before the program ends, and its end', async () => {
    const { events, done } = await follow({ code: TWO_LINES });
    await expect.poll(() => events.at(-1), within).toEqual(['output', { stream: 'stdout', text: 'one\n' }]);
    expect(events[0]).toEqual(['start', { executionId: expect.any(String) }]);
    const path = `/api/skills/executions/${events[0]?.[1].executionId}`;
    expect((await call(path)).status).toBe('running');
    await done;
    expect(events.slice(2).map(([event, { text }]) => [event, text])).toEqual([
      ['output', 'two ü\n'],
      ['execution', undefined],
    ]);
    const execution = events.at(-1)?.[1].execution;
    expect(execution).toMatchObject({ status: 'success', output: { stdout: 'one\ntwo ü\n', exitCode: 0, files: [{ path: 'made.txt' }] } });
    expect(await call(path)).toEqual(execution);
  });

  it('ends, and its container with it, when the client leaves a silent program', async () => {
    const { events, leave } = await follow({ code: "import time\nprint('one', flush=True)\ntime.sleep(50)", timeoutMs: 60_000 });
    await expect.poll(() => events, within).toHaveLength(2);
    expect(await containers()).not.toEqual([]);
    leave();
    await expect.poll(containers, within).toEqual([]);
    const path = `/api/skills/executions/${events[0]?.[1].executionId}`;
    await expect.poll(() => call(path), within).toMatchObject({ status: 'error', errorMessage: 'Cancelled: the client left' });
  });

  it('is what the command line shows', async () => {
    const env = { ...process.env, OMNIROUTE_URL: stack.url, OMNIROUTE_TOKEN: stack.apiKey };
    const child = spawn(process.execPath, [CLI, 'execute', 'eval_code', 'language=python', `code=${TWO_LINES}`], { env });
    const seen: string[] = [];
    const running = async () =>
      ((await call('/api/skills/executions?status=running')) as { data: JsonObject[] }).data.map(({ skillName }) => skillName);
    child.stdout.setEncoding('utf8').on('data', (text: string) => void seen.push(text));
    const exit = new Promise((resolve) => child.on('close', resolve));
    await expect.poll(() => seen, within).toEqual(['one\n']);
    expect(await running()).toEqual(['eval_code']);
    expect(await exit).toBe(0);
    expect(seen.join('')).toBe('one\ntwo ü\n');
  });
});
