import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findFreePort } from '../../dev/stack/ports.ts';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import { FLOOD_FORMATS, type FloodFormat, writeEvents } from '../support/flood-formats.ts';
import { manageStack, type StackManagement } from '../support/manage-stack.ts';
import { type MockUpstream, startMockUpstream, type UpstreamHandler } from '../support/mock-upstream.ts';
import { listDescendants } from '../support/processes.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

const STREAMS = 200;
const LONGEST_STAY_MS = 2_000;
/** How soon after its client a stream has to be gone. */
const GONE_WITHIN_MS = 1_000;
const DRIP_MS = 20;
/** What workerd's memory may grow by after the first crowd: V8 and the allocator keep some, but no crowd costs anew. */
const MEMORY_GROWTH_MB = 160;

/** What a provider does, and how many of a hundred streams it does it to. */
const KINDS = { silent: 25, drip: 25, 'no answer': 10, tools: 25, code: 3, whole: 12 } as const;
type Kind = keyof typeof KINDS;

/** One client: what it asks for, and when it leaves. */
interface Visit {
  format: string;
  kind: Kind;
  stayMs: number;
}

const visit: fc.Arbitrary<Visit> = fc.record({
  format: fc.constantFrom(...Object.keys(FLOOD_FORMATS)),
  kind: fc.oneof(...Object.entries(KINDS).map(([kind, weight]) => ({ weight, arbitrary: fc.constant(kind as Kind) }))),
  stayMs: fc.integer({ min: 0, max: LONGEST_STAY_MS }),
});

let upstream: MockUpstream;
let stack: TestStack;
let management: StackManagement;
let sandboxUrl: string;
let ended: string | undefined;

beforeAll(async () => {
  upstream = await startMockUpstream();
  const sandboxPort = await findFreePort();
  sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
  stack = await startTestStack({
    SANDBOX_PORT: String(sandboxPort),
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    ANTHROPIC_BASE_URL: upstream.url,
    GEMINI_BASE_URL: upstream.url,
  });
  void stack.ended.then((reason) => {
    ended = reason;
  });
  management = manageStack(stack);
});
afterAll(async () => {
  await stack?.stop();
  await upstream?.close();
});

/** An upstream call of a visit. */
interface UpstreamCall {
  visit: number;
  closedAt: number | undefined;
}

/** Answers each visit, which the model's name tells, as its kind wants; every call is written down until the gateway hangs up. */
function answerVisits(visits: readonly Visit[], calls: UpstreamCall[]): UpstreamHandler {
  return async (asked, response, closed) => {
    const number = Number(/flood-(\d+)/.exec(asked.path + asked.text)?.[1]);
    const { kind, format: name } = visits[number] as Visit;
    const format = FLOOD_FORMATS[name] as FloodFormat;
    const call: UpstreamCall = { visit: number, closedAt: undefined };
    calls.push(call);
    void closed.then(() => {
      call.closedAt = Date.now();
    });
    const isLater = calls.filter((each) => each.visit === number).length > 1;
    switch (kind) {
      case 'no answer':
        return;
      case 'silent':
        writeEvents(response, [...format.open, format.more]);
        return;
      case 'drip':
        writeEvents(response, format.open);
        while (call.closedAt === undefined) {
          writeEvents(response, [format.more]);
          await wait(DRIP_MS);
        }
        return;
      case 'tools':
        writeEvents(response, format.calling('file_write_v1_0_0', { path: `flood-${number}.txt`, content: String(calls.length) }));
        break;
      case 'code':
        // What comes after the code has run is too late for every client.
        writeEvents(response, isLater ? format.whole('late') : format.calling('eval_code_v1_0_0', { code: 'setTimeout(() => {}, 9000)' }));
        break;
      case 'whole':
        writeEvents(response, format.whole('A whole reply.'));
    }
    response.end();
  };
}

const requestOf = (format: FloodFormat, model: string, session: string) => ({
  url: `${stack.url}${format.path(model)}`,
  method: 'POST',
  headers: { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json', 'x-omniroute-session': session },
  body: JSON.stringify(format.body(model, 'hello')),
});

/**
 * Sends a request and resets the connection, as a platform's front cancels one: until the provider has answered there is nothing that could
 * be written to the client, and workerd learns of a connection that is merely closed by writing to it.
 */
function reset({ url, body, ...options }: ReturnType<typeof requestOf>, afterMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, options, () => reject(new Error('There was an answer')));
    sent.on('error', () => {});
    sent.end(body);
    setTimeout(() => {
      sent.socket?.resetAndDestroy();
      resolve(Date.now());
    }, afterMs);
  });
}

/** Visits the gateway; resolves to the time at which the client left or was done. */
async function stay({ format, kind, stayMs }: Visit, number: number, session: string): Promise<number> {
  const asked = requestOf(FLOOD_FORMATS[format] as FloodFormat, `flood-${number}`, session);
  if (kind === 'no answer') return reset(asked, stayMs);
  const leaving = new AbortController();
  const timer = setTimeout(() => leaving.abort(), stayMs);
  try {
    const response = await fetch(asked.url, { ...asked, signal: leaving.signal });
    expect(response.status).toBe(200);
    await response.text();
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
  return Date.now();
}

/** The executions of the sessions, once none of them runs any more. */
async function settledExecutions(sessions: ReadonlySet<string>): Promise<JsonObject[]> {
  let found: JsonObject[] = [];
  const countRunning = async () => {
    found = [];
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const { data, totalPages } = await management.call('GET', `/api/skills/executions?limit=200&page=${page}`);
      found.push(...objectsOf(data).filter(({ sessionId }) => sessions.has(String(sessionId))));
      pages = Number(totalPages);
    }
    return found.filter(({ status }) => status === 'running' || status === 'pending').length;
  };
  await expect.poll(countRunning, { timeout: 20_000 }).toBe(0);
  return found;
}

/** Resident memory of workerd, in MiB. */
function workerMemoryMb(): number {
  const worker = listDescendants(process.pid).find(({ command }) => command.includes('workerd serve'));
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${worker?.pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

async function countSandboxRuns(): Promise<number> {
  const metrics = await (await fetch(`${sandboxUrl}/metrics`)).text();
  const gauge = (name: string) => Number(new RegExp(`^omniroute_sandbox_${name} (\\d+)$`, 'm').exec(metrics)?.[1]);
  return gauge('runs_active') + gauge('runs_waiting') + gauge('containers');
}

/** A crowd of clients that leave; resolves to the workerd's memory once they are gone, in MiB. */
async function flood(round: number): Promise<number> {
  const visits = fc.sample(visit, { numRuns: STREAMS, seed: round });
  const calls: UpstreamCall[] = [];
  upstream.play(answerVisits(visits, calls));
  const sessions = visits.map((_, number) => `flood-${round}-${number}`);
  const leftAt = await Promise.all(visits.map((each, number) => stay(each, number, String(sessions[number]))));

  await expect.poll(() => calls.filter((call) => call.closedAt === undefined), { timeout: 20_000 }).toEqual([]);
  const executions = await settledExecutions(new Set(sessions));
  const leftBehind = [
    ...calls.map((call) => ({ number: call.visit, what: 'upstream call', goneAt: Number(call.closedAt) })),
    ...executions.map(({ sessionId, skillName, finishedAt }) => ({
      number: sessions.indexOf(String(sessionId)),
      what: `execution of ${skillName}`,
      goneAt: Date.parse(String(finishedAt)),
    })),
  ].map(({ number, what, goneAt }) => ({ ...visits[number], what, lateMs: goneAt - Number(leftAt[number]) }));
  expect(leftBehind.filter(({ lateMs }) => lateMs > GONE_WITHIN_MS)).toEqual([]);
  expect(new Set(leftBehind.map(({ what }) => what))).toEqual(
    new Set(['upstream call', 'execution of file_write', 'execution of eval_code']),
  );
  await expect.poll(countSandboxRuns, { timeout: 20_000 }).toBe(0);
  return workerMemoryMb();
}

it('crowds of clients that leave take everything with them, and the gateway stays as it was', async () => {
  const memoryMb: number[] = [];
  await management.withSkill('eval_code', { policy: 'auto' }, async () => {
    for (const round of [1, 2, 3]) memoryMb.push(await flood(round));
  });
  const [first = Number.NaN] = memoryMb;
  expect(Math.max(...memoryMb)).toBeLessThan(first + MEMORY_GROWTH_MB);

  for (const [name, format] of Object.entries(FLOOD_FORMATS)) {
    upstream.play((_, response) => {
      writeEvents(response, format.whole('Still here.'));
      response.end();
    });
    const { url, ...options } = requestOf(format, 'm', 'after');
    const reply = await (await fetch(url, options)).text();
    expect([name, reply]).toEqual([name, expect.stringContaining(format.end)]);
  }
  expect(ended).toBeUndefined();
  const complaints = stack.lines.filter((line) => line.startsWith('[worker]') && /unhandled|uncaught|"level":"(warn|error)"/i.test(line));
  expect(complaints).toEqual([]);
}, 180_000);
