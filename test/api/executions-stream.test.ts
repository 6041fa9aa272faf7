import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createExecutionStream } from '../../src/api/execution-stream.ts';
import { AppError } from '../../src/errors.ts';
import type { Execution } from '../../src/execution/execution.ts';
import type { JsonObject } from '../../src/json.ts';
import { type OnOutput, SkillError } from '../../src/skills/define.ts';
import { createTestApp, type TestApp } from '../support/app.ts';

const PATH = '/api/skills/executions';
const STREAM = 'text/event-stream';
const until = (check: () => unknown) => vi.waitFor(check, { timeout: 15_000, interval: 20 });

let app: TestApp;
/** The run of `printer` under way. */
let print: OnOutput = () => {};
let end: (output: JsonObject | Error) => void = () => {};
let runs = 0;
let aborted = 0;
beforeAll(async () => {
  app = await createTestApp({ variables: { SKILLS_MAX_SANDBOX_OUTPUT_CHARS: '50' } });
  app.services.executor.registerHandler('printer', (_, { signal, onOutput }) => {
    runs += 1;
    signal.addEventListener('abort', () => {
      aborted += 1;
    });
    print = (stream, text) => onOutput?.(stream, text);
    return new Promise((resolve, reject) => {
      end = (output) => (output instanceof Error ? reject(output) : resolve(output));
    });
  });
  const install = (name: string, handlerCode: string) =>
    app.call('/api/skills/install', { json: { name, handlerCode, description: 'For tests', schema: { input: {}, output: {} } } });
  await install('printer', 'printer');
  await install('silent', 'echo-handler');
  const { body } = await install('hasty', 'printer');
  await app.call(`/api/skills/${body.id}`, { method: 'PUT', json: { timeoutMs: 50 } });
});
afterAll(() => app.close());

interface Seen {
  events: [string | undefined, JsonObject][];
  comments: number;
}

/** Keeps the events of an answer as they come. */
function follow(response: Response): { seen: Seen; done: Promise<void>; leave(): Promise<void> } {
  const seen: Seen = { events: [], comments: 0 };
  const parser = createParser({
    onEvent: ({ event, data }: EventSourceMessage) => void seen.events.push([event, JSON.parse(data) as JsonObject]),
    onComment: () => {
      seen.comments += 1;
    },
  });
  const decoder = new TextDecoder();
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const read = async () => {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
      parser.feed(decoder.decode(chunk.value, { stream: true }));
  };
  return { seen, done: read(), leave: () => reader.cancel() };
}

const post = (json: JsonObject, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  app.request(PATH, { json, as: app.key.key, headers: { accept: STREAM, ...headers }, ...(signal && { signal }) });
const events = async (json: JsonObject, headers?: Record<string, string>) => {
  const { seen, done } = follow(await post(json, headers));
  await done;
  return seen.events;
};

describe('POST /api/skills/executions with accept: text/event-stream', () => {
  it('tells what the skill prints while it runs, then its execution', async () => {
    const response = await post({ skillName: 'printer', input: { a: 1 } });
    expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
      200,
      STREAM,
      'no-cache, no-transform',
    ]);
    const { seen, done } = follow(response);
    await until(() => expect(seen.events).toEqual([['start', { executionId: expect.any(String) }]]));
    const id = seen.events[0]?.[1].executionId as string;
    print('stdout', 'one\n');
    await until(() => expect(seen.events.at(-1)).toEqual(['output', { stream: 'stdout', text: 'one\n' }]));
    expect((await app.call(`${PATH}/${id}`)).body.status).toBe('running');
    print('stderr', 'two\r\n\n😀');
    end({ done: true });
    await done;
    expect(seen.events.slice(2)).toEqual([
      ['output', { stream: 'stderr', text: 'two\r\n\n😀' }],
      ['execution', { execution: expect.objectContaining({ id, status: 'success', output: { done: true }, input: { a: 1 } }) }],
    ]);
    expect(seen.events.at(-1)?.[1].execution).toEqual((await app.call(`${PATH}/${id}`)).body);
  });

  it('tells an execution that fails as such', async () => {
    const { seen, done } = follow(await post({ skillName: 'printer' }));
    await until(() => expect(seen.events).toHaveLength(1));
    print('stdout', 'so far');
    end(new SkillError('It broke'));
    await done;
    expect(seen.events.map(([event]) => event)).toEqual(['start', 'output', 'execution']);
    expect(seen.events.at(-1)?.[1].execution).toMatchObject({ status: 'error', errorMessage: 'It broke' });
  });

  it('tells an execution that times out', async () => {
    const { seen, done } = follow(await post({ skillName: 'hasty' }));
    await done;
    expect(seen.events.map(([event]) => event)).toEqual(['start', 'execution']);
    expect(seen.events.at(-1)?.[1].execution).toMatchObject({ status: 'timeout', errorMessage: 'Timed out after 50 ms' });
  });

  it.each([
    ['prints nothing', { skillName: 'silent', input: { a: 1 } }, { status: 'success', output: { a: 1 } }],
    ['takes no such input', { skillName: 'file_read' }, { status: 'error', errorMessage: 'Missing required field: path' }],
    [
      'finds no sandbox',
      { skillName: 'execute_command', input: { command: 'true' } },
      { status: 'error', errorMessage: 'No sandbox host is available' },
    ],
  ])('tells the execution alone when the skill %s', async (_, json, execution) => {
    expect(await events(json)).toEqual([
      ['start', { executionId: expect.any(String) }],
      ['execution', { execution: expect.objectContaining(execution) }],
    ]);
  });

  it('gives a repeat the stored execution and runs nothing', async () => {
    const headers = { 'idempotency-key': 'stream-1' };
    const before = runs;
    const { seen, done } = follow(await post({ skillName: 'printer' }, headers));
    await until(() => expect(seen.events).toHaveLength(1));
    print('stdout', 'once');
    const repeat = events({ skillName: 'printer' }, headers);
    end({ done: true });
    await done;
    const stored = [seen.events.at(-1)];
    expect(await repeat).toEqual(stored);
    expect(await events({ skillName: 'printer' }, headers)).toEqual(stored);
    const plain = await app.call(PATH, { json: { skillName: 'printer' }, as: app.key.key, headers });
    expect(plain.body).toEqual(stored[0]?.[1]);
    expect(runs).toBe(before + 1);
  });

  it('sends comments while the skill is silent', async () => {
    const { seen, done } = follow(await post({ skillName: 'printer' }));
    await until(() => expect(seen.comments).toBeGreaterThan(1));
    end({});
    await done;
    expect(seen.events.map(([event]) => event)).toEqual(['start', 'execution']);
  });

  it.each(['reading', 'the request'])('ends the execution when the client leaves: %s', async (what) => {
    const before = aborted;
    const leaving = new AbortController();
    const { seen, done, leave } = follow(await post({ skillName: 'printer' }, {}, leaving.signal));
    await until(() => expect(seen.events).toHaveLength(1));
    if (what === 'reading') await leave();
    else leaving.abort();
    await until(() => expect(aborted).toBe(before + 1));
    await app.settle();
    await done;
    const { body } = await app.call(`${PATH}/${seen.events[0]?.[1].executionId}`);
    expect(body).toMatchObject({ status: 'error', errorMessage: 'Cancelled: the client left' });
  });

  it('does not wait for a client that does not read, who gets everything in the end', async () => {
    const response = await post({ skillName: 'printer' });
    for (let index = 0; index < 50; index += 1) print('stdout', 'x');
    end({ done: true });
    await app.settle();
    const { body } = await app.call(`${PATH}?skill=printer&status=success&limit=1`);
    const { seen, done } = follow(response);
    await done;
    expect(seen.events.at(-1)).toEqual(['execution', { execution: (body.data as JsonObject[])[0] }]);
    expect(seen.events.slice(1, -1).map(([, { text }]) => text)).toEqual(Array.from({ length: 50 }, () => 'x'));
  });

  it('tells no more of a stream than a sandbox gives, cut between characters', async () => {
    const { seen, done } = follow(await post({ skillName: 'printer' }));
    await until(() => expect(seen.events).toHaveLength(1));
    print('stdout', 'x'.repeat(49));
    print('stdout', '😀');
    print('stdout', 'y');
    print('stderr', 'z'.repeat(51));
    print('stderr', 'z');
    end({});
    await done;
    expect(seen.events.slice(1, -1)).toEqual([
      ['output', { stream: 'stdout', text: 'x'.repeat(49) }],
      ['output', { stream: 'stderr', text: 'z'.repeat(50) }],
    ]);
  });

  it.each([
    [404, 'skill_not_found', { skillName: 'nothing' }, {}],
    [400, 'invalid_request', { skillName: 'printer', input: 5 }, {}],
    [400, 'invalid_request', { skillName: 'printer' }, { 'idempotency-key': 'a b' }],
  ])('answers a refusal with its status and JSON: %i %s', async (status, code, json, headers) => {
    const response = await post(json, headers);
    expect([response.status, response.headers.get('content-type')]).toEqual([status, 'application/json']);
    expect(await response.json()).toMatchObject({ code });
  });

  it('answers 409 for a key that belongs to another call, and 503 when skills are switched off', async () => {
    const headers = { 'idempotency-key': 'stream-2' };
    await events({ skillName: 'silent' }, headers);
    const conflict = await post({ skillName: 'silent', input: { other: true } }, headers);
    expect([conflict.status, ((await conflict.json()) as JsonObject).code]).toEqual([409, 'idempotency_conflict']);
    await app.services.settings.put({ skillsEnabled: false });
    const off = await post({ skillName: 'silent' });
    await app.services.settings.put({ skillsEnabled: true });
    expect([off.status, ((await off.json()) as JsonObject).code]).toEqual([503, 'skills_disabled']);
  });

  it.each([
    ['text/event-stream', STREAM],
    ['TEXT/Event-Stream', STREAM],
    ['text/event-stream, application/json;q=0.9', STREAM],
    ['application/json;q=0.5, text/event-stream;q=0.6', STREAM],
    ['text/event-stream, */*', STREAM],
    ['text/event-stream, application/json', STREAM],
    ['text/event-stream;q=0.5', STREAM],
    ['application/json, text/event-stream', 'application/json'],
    ['text/event-stream;q=0.5, */*', 'application/json'],
    ['text/event-stream;q=0.5, application/*', 'application/json'],
    ['text/event-stream;q=0', 'application/json'],
    ['application/json', 'application/json'],
    ['*/*', 'application/json'],
    ['text/*', 'application/json'],
    ['text/html', 'application/json'],
    ['', 'application/json'],
  ])('with accept: %j it answers %s', async (accept, type) => {
    const response = await post({ skillName: 'silent' }, { accept });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
    await response.text();
  });
});

describe('createExecutionStream', () => {
  const open = () => createExecutionStream({ maxOutputChars: 10, onLeave: () => {}, now: Date.now });

  it.each([
    [new AppError('database_unavailable', 'No database'), { error: 'No database', code: 'database_unavailable' }],
    [new Error('a secret detail'), { error: 'Internal error', code: 'internal_error' }],
  ])('ends with an error that comes after the claim', async (error, data) => {
    const stream = open();
    stream.onClaimed('e1');
    const { seen, done } = follow(await stream.reply(Promise.reject(error)));
    await done;
    expect(seen.events).toEqual([
      ['start', { executionId: 'e1' }],
      ['error', data],
    ]);
  });

  it('rejects with one that comes before it', async () => {
    const work: Promise<Execution> = Promise.reject(new AppError('skill_off', 'Off'));
    await expect(open().reply(work)).rejects.toThrow('Off');
  });
});

it('is in the OpenAPI document', async () => {
  const { body } = await app.call('/openapi.json', { as: null });
  const paths = body.paths as Record<string, Record<string, { responses: Record<string, { content: JsonObject }> }>>;
  const answer = paths[PATH]?.post?.responses[200];
  expect(Object.keys(answer?.content ?? {})).toEqual(['application/json', STREAM]);
});
