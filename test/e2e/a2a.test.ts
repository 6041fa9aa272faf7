import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { AgentCard, StreamResponse, Task } from '@a2a-js/sdk';
import { type Client, ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/json.ts';
import { manageStack } from '../support/manage-stack.ts';
import { type MockUpstream, sendEvents, sendJson, startMockUpstream, type UpstreamHandler } from '../support/mock-upstream.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let upstream: MockUpstream;
let stack: TestStack;
beforeAll(async () => {
  upstream = await startMockUpstream();
  stack = await startTestStack({ OPENAI_BASE_URL: `${upstream.url}/v1`, OPENAI_API_KEY: 'sk-upstream' });
});
afterAll(async () => {
  await stack?.stop();
  await upstream?.close();
});

/** The enums of the SDK exist at run time only under other names. */
const COMPLETED = 3;
const CANCELED = 5;
const INPUT_REQUIRED = 6;
const ROLE_USER = 1;

const withKey =
  (key: string): typeof fetch =>
  (input, init) =>
    fetch(input, { ...init, headers: { ...(init?.headers as Record<string, string>), authorization: `Bearer ${key}` } });

/** The official client, in the revision that its card makes it speak. */
async function connect(revision: '1.0' | '0.3', key = stack.apiKey, path?: string): Promise<Client> {
  const legacyCompat = { enabled: revision === '0.3' };
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ fetchImpl: withKey(key), legacyCompat })],
      cardResolver: new DefaultAgentCardResolver({ legacyCompat }),
    }),
  );
  if (revision === '1.0') return factory.createFromUrl(stack.url, path);
  const card = (await (await fetch(`${stack.url}${path ?? '/.well-known/agent-card.json'}`)).json()) as JsonObject;
  // As an agent of that revision writes it, which knows no interfaces of 1.0.
  const { supportedInterfaces: _, ...old } = card;
  return factory.createFromAgentCard(old as unknown as AgentCard);
}

const message = (text: string, more: { taskId?: string } = {}) => ({
  tenant: '',
  message: {
    messageId: crypto.randomUUID(),
    contextId: '',
    taskId: more.taskId ?? '',
    role: ROLE_USER,
    parts: [{ content: { $case: 'text' as const, value: text }, metadata: undefined, filename: '', mediaType: '' }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  },
  configuration: undefined,
  metadata: undefined,
});

function asTask(result: unknown): Task {
  if (!isJsonObject(result) || !('status' in result)) throw new Error('no task');
  return result as unknown as Task;
}

const dataOf = (task: Task): JsonObject => {
  const content = task.artifacts[0]?.parts.find((part) => part.content?.$case === 'data')?.content;
  return content?.value as JsonObject;
};

async function collect(stream: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const events: StreamResponse[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe.each(['1.0', '0.3'] as const)('the official client in revision %s', (revision) => {
  it.each(['/.well-known/agent-card.json', '/.well-known/agent.json'])('sends a message to the agent of %s', async (path) => {
    const client = await connect(revision, stack.apiKey, path);
    const task = asTask(await client.sendMessage(message('translate a contract')));
    expect(task.status?.state).toBe(COMPLETED);
    expect(dataOf(task)).toMatchObject({ basis: 'default', provider: 'openai' });
    const read = await client.getTask({ tenant: '', id: task.id, historyLength: 0 });
    expect(read).toMatchObject({ id: task.id, contextId: task.contextId, status: { state: COMPLETED } });
    expect(read.history).toEqual([]);
  });

  it('lists what the agent can do', async () => {
    const client = await connect(revision);
    const task = asTask(await client.sendMessage(message('list-capabilities')));
    expect((dataOf(task).agentSkills as JsonObject[]).map(({ id }) => id)).toEqual(['memory_aware_routing', 'list-capabilities']);
    expect((dataOf(task).skills as JsonObject[]).map(({ name }) => name)).toContain('eval_code');
  });

  it('reads a stream to its end', async () => {
    const client = await connect(revision);
    const events = await collect(client.sendMessageStream(message('translate a contract')));
    expect(events.map(({ payload }) => payload?.$case)).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate']);
    expect(events.at(-1)?.payload?.value).toMatchObject({ status: { state: COMPLETED } });
  });

  it('leaves a stream, and finds the task done', async () => {
    const client = await connect(revision);
    let id = '';
    for await (const { payload } of client.sendMessageStream(message('translate a contract'))) {
      if (payload?.$case === 'task') id = payload.value.id;
      break;
    }
    const isDone = async () => (await client.getTask({ tenant: '', id, historyLength: undefined })).status?.state === COMPLETED;
    await expect.poll(isDone, { timeout: 10_000 }).toBe(true);
    const again = collect(client.resubscribeTask({ tenant: '', id }));
    if (revision === '0.3') expect((await again).at(-1)?.payload?.value).toMatchObject({ status: { state: COMPLETED } });
    else await expect(again).rejects.toThrow(`Task ${id} is completed: there is nothing to subscribe to`);
  });

  it('is asked for what is missing, and can cancel instead', async () => {
    const client = await connect(revision);
    const waiting = asTask(await client.sendMessage(message(' ')));
    expect(waiting.status?.state).toBe(INPUT_REQUIRED);
    expect((await collect(client.resubscribeTask({ tenant: '', id: waiting.id })))[0]?.payload?.value).toMatchObject({ id: waiting.id });
    const done = asTask(await client.sendMessage(message('translate', { taskId: waiting.id })));
    expect([done.id, done.status?.state]).toEqual([waiting.id, COMPLETED]);
    await expect(client.cancelTask({ tenant: '', id: done.id, metadata: undefined })).rejects.toMatchObject({
      reason: 'TASK_NOT_CANCELABLE',
    });

    const { id } = asTask(await client.sendMessage(message(' ')));
    expect((await client.cancelTask({ tenant: '', id, metadata: undefined })).status?.state).toBe(CANCELED);
    await expect(client.sendMessage(message('x', { taskId: id }))).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
  });

  it('sees no task of another key', async () => {
    const task = asTask(await (await connect(revision)).sendMessage(message('translate')));
    const other = await connect(revision, await manageStack(stack).createKey());
    await expect(other.getTask({ tenant: '', id: task.id, historyLength: undefined })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
  });

  it('is told when its key is no good', async () => {
    await expect((await connect(revision, 'omr_wrong')).sendMessage(message('x'))).rejects.toThrow('A valid API key is required');
  });
});

it('lists the tasks of a key page by page', async () => {
  const client = await connect('1.0', await manageStack(stack).createKey());
  const ids = [];
  for (const text of ['one', 'two', 'three']) ids.unshift(asTask(await client.sendMessage(message(`sort list ${text}`))).id);
  const ask = (pageToken: string) =>
    client.listTasks({
      ...{ tenant: '', contextId: '', status: 0, statusTimestampAfter: undefined },
      ...{ pageSize: 2, pageToken, historyLength: 0, includeArtifacts: false },
    });
  const first = await ask('');
  expect([first.tasks.length, first.totalSize]).toEqual([2, 3]);
  const second = await ask(first.nextPageToken);
  expect([...first.tasks, ...second.tasks].map(({ id }) => id).sort()).toEqual(ids.sort());
  expect(second.nextPageToken).toBe('');
});

describe('a key whose outcomes are remembered', () => {
  const reply = {
    id: 'c',
    object: 'chat.completion',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hallo' } }],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  };
  const sendGzip: UpstreamHandler = (_, response) => {
    const body = gzipSync(JSON.stringify(reply));
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip', 'content-length': body.length }).end(body);
  };

  /** Bytes and headers as they came over the wire. */
  const raw = (key: string, model: string, more: JsonObject = {}): Promise<{ headers: Record<string, unknown>; body: string }> =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'accept-encoding': 'gzip',
        'x-omniroute-skills': 'off',
      };
      const sent = request(`${stack.url}/v1/chat/completions`, { method: 'POST', headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const { date: _, 'x-omniroute-request-id': __, 'server-timing': ___, ...rest } = response.headers;
          resolve({ headers: rest, body: Buffer.concat(chunks).toString('hex') });
        });
      });
      sent.on('error', reject);
      sent.end(JSON.stringify({ model, messages: [{ role: 'user', content: 'Translate the German contract' }], ...more }));
    });

  it.each([
    ['plain', sendJson(reply)],
    ['gzipped', sendGzip],
  ])('gets the very bytes that others get (%s), and is recommended what did well', async (kind, send) => {
    const { key } = (await manageStack(stack).call('POST', '/api/keys', { name: kind, routingMemory: true })) as { key: string };
    upstream.play(send);
    expect(await raw(key, 'gpt-good')).toEqual(await raw(stack.apiKey, 'gpt-good'));
    upstream.play(sendJson({ error: { message: 'no' } }, 500));
    await raw(key, 'gpt-bad');

    const client = await connect('1.0', key);
    const recommend = async () =>
      dataOf(asTask(await client.sendMessage(message('translate a contract')))) as JsonObject & { evidence: { remembered: number } };
    await expect.poll(async () => (await recommend()).evidence.remembered, { timeout: 10_000 }).toBe(2);
    expect(await recommend()).toMatchObject({
      basis: 'memory',
      provider: 'openai',
      model: 'gpt-good',
      evidence: {
        similar: 2,
        candidates: [
          { model: 'gpt-good', tokens: 18, successes: 1 },
          { model: 'gpt-bad', successes: 0 },
        ],
      },
    });
  });

  it('leaves a row for a stream that was read to its end, and the very bytes', async () => {
    const { key } = (await manageStack(stack).call('POST', '/api/keys', { name: 'streams', routingMemory: true })) as { key: string };
    const events = [{ choices: [{ index: 0, delta: { role: 'assistant', content: 'Hallo' } }] }, { choices: [], usage: reply.usage }];
    upstream.play(sendEvents(...events, '[DONE]'));
    expect(await raw(key, 'gpt-stream', { stream: true })).toEqual(await raw(stack.apiKey, 'gpt-stream', { stream: true }));
    const client = await connect('1.0', key);
    const ask = async () => dataOf(asTask(await client.sendMessage(message('translate a contract')))).evidence;
    await expect
      .poll(ask, { timeout: 10_000 })
      .toMatchObject({ remembered: 1, requests: [{ model: 'gpt-stream', success: true, inputTokens: 11, outputTokens: 7 }] });
  });
});
