import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/json.ts';
import { createTestApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp({
    variables: {
      PROVIDERS: JSON.stringify([{ name: 'house', format: 'openai', baseUrl: 'https://house.example/v1', models: ['house-1'] }]),
    },
  });
});
afterAll(() => app.close());

interface Rpc extends JsonObject {
  id: string | number | null;
  result: JsonObject;
  error: { code: number; message: string; data?: JsonValue } & JsonObject;
}

async function rpc(
  method: string,
  params?: JsonValue,
  { as = app.key.key, headers = {} }: { as?: string | null; headers?: Record<string, string> } = {},
) {
  const response = await app.request('/a2a', {
    as,
    headers,
    json: { jsonrpc: '2.0', id: 7, method, ...(params !== undefined && { params }) },
  });
  return (await response.json()) as Rpc;
}

const say = (text: string, more: JsonObject = {}): JsonObject => ({
  message: { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts: [{ kind: 'text', text }], ...more },
});
const sayV10 = (text: string, more: JsonObject = {}): JsonObject => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more },
});

async function events(method: string, params: JsonValue, as = app.key.key): Promise<Rpc[]> {
  const response = await app.request('/a2a', { as, json: { jsonrpc: '2.0', id: 's', method, params } });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const text = await response.text();
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => JSON.parse(frame.slice(6)) as Rpc);
}

const stateOf = (task: JsonObject | undefined) => (task?.status as JsonObject | undefined)?.state;

describe('message/send', () => {
  it('answers the finished task', async () => {
    const { id, result } = await rpc('message/send', say('translate a contract into German'));
    expect(id).toBe(7);
    expect(result).toMatchObject({
      kind: 'task',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      contextId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: { state: 'completed', message: { kind: 'message', role: 'agent' } },
      history: [{ kind: 'message', role: 'user', parts: [{ kind: 'text', text: 'translate a contract into German' }] }],
      artifacts: [
        {
          name: 'memory_aware_routing',
          parts: [
            { kind: 'text' },
            { kind: 'data', data: { basis: 'default', provider: 'house', model: 'house-1', use: 'house/house-1' } },
          ],
        },
      ],
      metadata: { skill: 'memory_aware_routing' },
    });
  });

  it('keeps the context that the client gives', async () => {
    expect((await rpc('message/send', say('x y z', { contextId: 'mine' }))).result.contextId).toBe('mine');
  });

  it('answers at once when it shall not wait, and does the work behind it', async () => {
    const { result } = await rpc('message/send', { ...say('sort a list'), configuration: { blocking: false } });
    expect(stateOf(result)).toBe('submitted');
    await app.settle();
    expect(stateOf((await rpc('tasks/get', { id: result.id as string })).result)).toBe('completed');
  });

  it.each([
    ['metadata of the message', say('whatever', { metadata: { skill: 'list-capabilities' } })],
    ['metadata of the request', { ...say('whatever'), metadata: { skillId: 'list-capabilities' } }],
    ['data', say('', { parts: [{ kind: 'data', data: { skill: 'list-capabilities' } }] })],
    ['a text that is its id', say('list-capabilities')],
  ])('takes the skill from %s', async (_, params) => {
    const { result } = await rpc('message/send', params as JsonObject);
    expect(result).toMatchObject({ status: { state: 'completed' }, metadata: { skill: 'list-capabilities' } });
  });

  it('takes the input as data, also under `input`', async () => {
    for (const data of [
      { task: 'sum numbers', contextRequired: 5 },
      { skill: 'memory_aware_routing', input: { task: 'sum numbers' } },
    ])
      expect(stateOf((await rpc('message/send', say('', { parts: [{ kind: 'data', data }] }))).result)).toBe('completed');
  });

  it('asks for a task that is missing, and goes on with the answer', async () => {
    const { result } = await rpc('message/send', say('  '));
    expect(result).toMatchObject({
      status: { state: 'input-required', message: { parts: [{ text: 'task: say it as text, or as data' }] } },
    });
    const { result: after } = await rpc('message/send', say('sort a list', { taskId: result.id as string }));
    expect(after).toMatchObject({ id: result.id as string, contextId: result.contextId as string, status: { state: 'completed' } });
    expect(after.history).toHaveLength(2);
  });

  it('takes no message for a task that is over', async () => {
    const { result } = await rpc('message/send', say('sort a list'));
    const { error } = await rpc('message/send', say('again', { taskId: result.id as string }));
    expect(error).toEqual({ code: -32004, message: `Task ${result.id} is completed and takes no messages` });
  });

  it('takes no message for a task in another context', async () => {
    const { result } = await rpc('message/send', say(''));
    const { error } = await rpc('message/send', say('x', { taskId: result.id as string, contextId: 'other' }));
    expect(error).toEqual({ code: -32602, message: `params.message.contextId: Task ${result.id} has another context` });
  });

  it('shortens the history', async () => {
    const { result } = await rpc('message/send', { ...say('sort'), configuration: { historyLength: 0 } });
    expect(result.history).toEqual([]);
  });
});

describe('list-capabilities', () => {
  it('tells of the agent, of the key’s skills, of providers and of the texts for agents', async () => {
    const stranger = await app.createKey();
    const install = { name: 'private-skill', description: 'Mine', schema: { input: {}, output: {} }, handlerCode: 'echo-handler' };
    const installed = await app.call('/api/skills/install', { json: { ...install, apiKeyId: stranger.id } });
    expect(installed.status).toBe(201);
    const { result } = await rpc('message/send', say('list-capabilities'));
    const [artifact] = result.artifacts as [{ parts: [JsonObject, { data: JsonObject }] }];
    const { data } = artifact.parts[1];
    expect(data).toMatchObject({
      agentSkills: [
        {
          id: 'memory_aware_routing',
          input: { type: 'object', required: ['task'], properties: { task: { type: 'string' }, contextRequired: {} } },
        },
        { id: 'list-capabilities' },
      ],
    });
    expect(data.providers).toEqual(
      expect.arrayContaining([
        { name: 'openai', format: 'openai' },
        { name: 'house', format: 'openai' },
      ]),
    );
    const names = (data.skills as JsonObject[]).map(({ name }) => name);
    expect(names).toContain('file_read');
    // It is switched off.
    expect(names).not.toContain('browser');
    expect(names).not.toContain('private-skill');
    expect(data.skillCount).toBe(names.length);
    expect((data.howToTexts as JsonObject[]).map(({ id }) => id)).toContain('omniroute-guide-a2a');
  });
});

describe('message/stream', () => {
  it('tells of each step', async () => {
    const told = await events('message/stream', say('sort a list'));
    expect(told.map(({ id }) => id)).toEqual(told.map(() => 's'));
    expect(told.map(({ result }) => [result.kind, stateOf(result), result.final])).toEqual([
      ['task', 'submitted', undefined],
      ['status-update', 'working', false],
      ['artifact-update', undefined, undefined],
      ['status-update', 'completed', true],
    ]);
    const [task] = told;
    expect(told[2]?.result).toMatchObject({
      taskId: task?.result.id as string,
      append: false,
      lastChunk: true,
      artifact: { name: 'memory_aware_routing' },
    });
  });

  it('ends when input is required', async () => {
    const told = await events('message/stream', say(''));
    expect(told.at(-1)?.result).toMatchObject({ kind: 'status-update', final: true, status: { state: 'input-required' } });
  });

  it('answers plain JSON for a request that cannot be', async () => {
    expect((await rpc('message/stream', say('x', { taskId: 'nope' }))).error).toEqual({ code: -32001, message: 'Task not found: nope' });
  });

  it('goes on when the client leaves, who gets the end by resubscribing', async () => {
    const left = new AbortController();
    const response = await app.request('/a2a', {
      as: app.key.key,
      signal: left.signal,
      json: { jsonrpc: '2.0', id: 1, method: 'message/stream', params: say('sort a list') },
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const first = new TextDecoder().decode((await reader.read()).value);
    const task = (JSON.parse(first.slice(6, first.indexOf('\n\n'))) as Rpc).result;
    await reader.cancel();
    await app.settle();
    const told = await events('tasks/resubscribe', { id: task.id as string });
    expect(told.map(({ result }) => [result.kind, stateOf(result)])).toEqual([
      ['task', 'completed'],
      ['status-update', 'completed'],
    ]);
    expect(told[0]?.result.artifacts).toHaveLength(1);
  });
});

describe('tasks of revision 1.0', () => {
  it('sends, gets, lists and streams', async () => {
    const { key } = await app.createKey();
    const { result } = await rpc('SendMessage', sayV10('sort a list'), { as: key, headers: { 'a2a-version': '1.0' } });
    expect(result).toMatchObject({
      task: {
        status: { state: 'TASK_STATE_COMPLETED', message: { role: 'ROLE_AGENT', parts: [{ mediaType: 'text/plain' }] } },
        history: [{ role: 'ROLE_USER', parts: [{ text: 'sort a list' }] }],
        artifacts: [{ parts: [{ text: expect.any(String) }, { data: { basis: 'default' } }] }],
      },
    });
    const { id } = result.task as JsonObject;
    expect((await rpc('GetTask', { id: id as string, historyLength: 0 }, { as: key })).result).toMatchObject({
      id: id as string,
      history: [],
    });
    expect((await events('SendStreamingMessage', sayV10('sort'), key)).map(({ result: told }) => Object.keys(told))).toEqual([
      ['task'],
      ['statusUpdate'],
      ['artifactUpdate'],
      ['statusUpdate'],
    ]);

    const { result: page } = await rpc('ListTasks', { pageSize: 1 }, { as: key });
    expect(page).toMatchObject({ tasks: [{ artifacts: [] }], pageSize: 1, totalSize: 2 });
    const { result: rest } = await rpc(
      'ListTasks',
      { pageSize: 1, pageToken: page.nextPageToken as string, includeArtifacts: true },
      { as: key },
    );
    expect(rest).toMatchObject({ tasks: [{ id: id as string, artifacts: [{}] }], nextPageToken: '' });
    const { result: working } = await rpc('ListTasks', { status: 'TASK_STATE_WORKING' }, { as: key });
    expect(working).toMatchObject({ tasks: [], totalSize: 0 });
  });

  it('has nothing to subscribe to when the task is over', async () => {
    const { result } = await rpc('SendMessage', sayV10('sort'));
    const { id } = result.task as JsonObject;
    expect((await rpc('SubscribeToTask', { id: id as string })).error).toEqual({
      code: -32004,
      message: `Task ${id} is completed: there is nothing to subscribe to`,
      data: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'UNSUPPORTED_OPERATION', domain: 'a2a-protocol.org' }],
    });
  });

  it.each([
    [{ pageSize: 0 }, 'params.pageSize: '],
    [{ pageSize: 101 }, 'params.pageSize: '],
    [{ status: 'DONE' }, 'params.status: No such state of tasks of this agent'],
    [{ pageToken: "' OR 1=1" }, 'params.pageToken: no token of this agent'],
    [{ statusTimestampAfter: 'yesterday' }, 'params.statusTimestampAfter: '],
  ])('refuses to list %j', async (params, message) => {
    const { error } = await rpc('ListTasks', params);
    expect(error.code).toBe(-32602);
    expect(error.message).toContain(message);
  });
});

describe('tasks/get, tasks/cancel and tasks/resubscribe', () => {
  const methods = ['tasks/get', 'tasks/cancel', 'tasks/resubscribe', 'GetTask', 'CancelTask', 'SubscribeToTask'];

  it.each(methods)('%s knows no task of another key', async (method) => {
    const { result } = await rpc('message/send', say(''));
    const { key } = await app.createKey();
    const { error } = await rpc(method, { id: result.id as string }, { as: key });
    expect(error).toMatchObject({ code: -32001, message: `Task not found: ${result.id}` });
    expect((await rpc('message/send', say('x', { taskId: result.id as string }), { as: key })).error.code).toBe(-32001);
  });

  it.each(methods)('%s needs an id', async (method) => {
    for (const params of [undefined, {}, { id: '' }, { id: 1 }, { id: 'x'.repeat(201) }, { id: 'a\0' }, [], 'x']) {
      const { error } = await rpc(method, params as JsonValue);
      expect([params, error.code]).toEqual([params, -32602]);
    }
  });

  it('cancels a task that waits, and none that is over', async () => {
    const { result } = await rpc('message/send', say(''));
    const id = result.id as string;
    expect(stateOf((await rpc('tasks/cancel', { id })).result)).toBe('canceled');
    expect((await rpc('tasks/cancel', { id })).error).toEqual({ code: -32002, message: `Task not cancelable: ${id} is canceled` });
    expect((await rpc('message/send', say('x', { taskId: id }))).error.code).toBe(-32004);
  });

  it('forgets a task when its time is over', async () => {
    let time = Date.now();
    const late = await createTestApp({ now: () => time });
    const ask = async (method: string, params: JsonValue) =>
      (await (await late.request('/a2a', { json: { jsonrpc: '2.0', id: 1, method, params }, as: late.key.key })).json()) as Rpc;
    const { result } = await ask('message/send', say('sort'));
    time += 24 * 3_600_000 + 1;
    expect((await ask('tasks/get', { id: result.id as string })).error.code).toBe(-32001);
    await late.services.maintain();
    expect((await late.database.client.execute('SELECT * FROM a2a_tasks')).rows).toEqual([]);
    await late.close();
  });

  it('ends a task whose isolate has died, by itself and by the cron', async () => {
    let time = Date.now();
    const late = await createTestApp({ now: () => time });
    const ask = async (method: string, params: JsonValue) =>
      (await (await late.request('/a2a', { json: { jsonrpc: '2.0', id: 1, method, params }, as: late.key.key })).json()) as Rpc;
    const ids: string[] = [];
    for (const _ of [1, 2]) {
      const { result } = await ask('message/send', say(''));
      ids.push(result.id as string);
    }
    await late.database.client.execute("UPDATE a2a_tasks SET state = 'submitted'");
    await late.database.client.execute(
      `UPDATE a2a_tasks SET state = 'working', lease_expires_at = '${new Date(time + 60_000).toISOString()}'`,
    );
    expect(stateOf((await ask('tasks/get', { id: ids[0] as string })).result)).toBe('working');
    time += 60_001;
    const message = { parts: [{ text: 'The task was interrupted before it was done. Send it again.' }] };
    expect((await ask('tasks/get', { id: ids[0] as string })).result).toMatchObject({ status: { state: 'failed', message } });
    await late.services.maintain();
    const { rows } = await late.database.client.execute('SELECT state FROM a2a_tasks');
    expect(rows.map(({ state }) => state)).toEqual(['failed', 'failed']);
    await late.close();
  });

  it('refuses illegal transitions in the database itself', async () => {
    const { result } = await rpc('message/send', say('sort'));
    const move = app.database.client.execute({ sql: "UPDATE a2a_tasks SET state = 'working' WHERE id = ?", args: [result.id as string] });
    await expect(move).rejects.toThrow('illegal transition of a task');
  });

  it('does not bring a task back that was canceled while it was worked on', async () => {
    const { result } = await rpc('message/send', say(''));
    const { a2aTasks } = app.services;
    const owner = app.key.id;
    const task = await a2aTasks.get(result.id as string, owner);
    if (!task) throw new Error('no task');
    expect(await a2aTasks.move({ ...task, state: 'canceled' }, 'input-required', owner)).toBe(true);
    expect(await a2aTasks.move({ ...task, state: 'submitted' }, 'input-required', owner)).toBe(false);
  });
});

describe('JSON-RPC', () => {
  const post = async (body: string, headers: Record<string, string> = {}) => {
    const response = await app.request('/a2a', { method: 'POST', as: app.key.key, body, headers });
    return { status: response.status, ...((await response.json()) as Rpc) };
  };

  it.each([
    ['', null, -32700, 'The body is not valid JSON'],
    ['{', null, -32700, 'The body is not valid JSON'],
    [`${'['.repeat(100)}${']'.repeat(100)}`, null, -32700, 'The body is nested deeper than 64 levels'],
    ['[]', null, -32600, 'Batches are not supported: send one request at a time'],
    ['[{"jsonrpc":"2.0","id":1,"method":"tasks/get"}]', null, -32600, 'Batches are not supported: send one request at a time'],
    ['null', null, -32600, 'The request must be a JSON object'],
    ['"x"', null, -32600, 'The request must be a JSON object'],
    ['{}', null, -32600, 'jsonrpc: must be "2.0"'],
    ['{"jsonrpc":"1.0","id":1,"method":"tasks/get"}', 1, -32600, 'jsonrpc: must be "2.0"'],
    ['{"jsonrpc":"2.0","id":{},"method":"tasks/get"}', null, -32600, 'id: must be a string, an integer or null'],
    ['{"jsonrpc":"2.0","id":1.5,"method":"tasks/get"}', null, -32600, 'id: must be a string, an integer or null'],
    ['{"jsonrpc":"2.0","id":"a"}', 'a', -32600, 'method: a string is required'],
    ['{"jsonrpc":"2.0","id":"a","method":7}', 'a', -32600, 'method: a string is required'],
    ['{"jsonrpc":"2.0","id":"a","method":"tasks/explode"}', 'a', -32601, 'Method not found: tasks/explode'],
    ['{"jsonrpc":"2.0","id":"a","method":"constructor"}', 'a', -32601, 'Method not found: constructor'],
    ['{"jsonrpc":"2.0","id":"a","method":"__proto__"}', 'a', -32601, 'Method not found: __proto__'],
  ])('answers %j as an error', async (body, id, code, message) => {
    const { status, error, id: answered } = await post(body);
    expect([status, answered, error]).toEqual([200, id, { code, message }]);
  });

  it.each(['tasks/pushNotificationConfig/set', 'tasks/pushNotificationConfig/get', 'CreateTaskPushNotificationConfig'])(
    'has no %s',
    async (method) => {
      expect((await rpc(method, { id: 'x' })).error).toMatchObject({ code: -32003, message: 'Push notifications are not supported' });
    },
  );

  it.each(['agent/getAuthenticatedExtendedCard', 'GetExtendedAgentCard'])('has no %s', async (method) => {
    expect((await rpc(method)).error).toMatchObject({ code: -32007, message: 'There is no extended agent card' });
  });

  it('speaks no other revision', async () => {
    expect((await rpc('SendMessage', sayV10('x'), { headers: { 'a2a-version': '2.0' } })).error).toMatchObject({
      code: -32009,
      message: 'This agent speaks A2A 1.0 and 0.3',
    });
  });

  const part = (value: JsonValue) => say('', { parts: [value] });
  it.each<[string, JsonValue, number, string | RegExp]>([
    ['message/send', null, -32602, /^params\.message: /],
    ['message/send', { message: 'hi' }, -32602, /^params\.message: /],
    ['message/send', { message: { role: 'user', parts: [{ kind: 'text', text: 'x' }] } }, -32602, /^params\.message\.messageId: /],
    ['message/send', say('x', { role: 'agent' }), -32602, /^params\.message\.role: /],
    ['message/send', say('x', { parts: [] }), -32602, /^params\.message\.parts: /],
    [
      'message/send',
      say('x', { parts: Array.from({ length: 33 }, () => ({ kind: 'text', text: 'x' })) }),
      -32602,
      /^params\.message\.parts: /,
    ],
    ['message/send', say('x', { taskId: 7 }), -32602, /^params\.message\.taskId: /],
    ['message/send', say('x', { contextId: 'x'.repeat(300) }), -32602, /^params\.message\.contextId: /],
    ['message/send', part({ kind: 'video' }), -32602, /^params\.message\.parts\.0\.kind: /],
    ['message/send', part({ kind: 'text' }), -32602, /^params\.message\.parts\.0\.text: /],
    ['message/send', part({ kind: 'data', data: [1] }), -32602, /^params\.message\.parts\.0\.data: /],
    ['message/send', part({ kind: 'file', file: { bytes: 'AAAA' } }), -32005, 'This agent takes text and data, no files'],
    [
      'message/send',
      part({ kind: 'data', data: { skill: 'nope' } }),
      -32602,
      'No skill nope here: there are memory_aware_routing, list-capabilities',
    ],
    ['message/send', part({ kind: 'data', data: { task: 7 } }), -32602, /^memory_aware_routing\.task: /],
    ['message/send', part({ kind: 'data', data: { task: 'x', contextRequired: -1 } }), -32602, /^memory_aware_routing\.contextRequired: /],
    ['message/send', part({ kind: 'data', data: { task: 'x', more: 1 } }), -32602, /^memory_aware_routing: .*more/],
    ['message/send', part({ kind: 'data', data: { more: 1 } }), -32602, /^memory_aware_routing: .*more/],
    ['message/send', part({ kind: 'data', data: { contextRequired: -1 } }), -32602, /^memory_aware_routing\.contextRequired: /],
    ['message/send', say('x'.repeat(10_001)), -32602, /^memory_aware_routing\.task: /],
    ['message/send', say('x'.repeat(70_000)), -32602, 'params: The message exceeds the limit of 65536 characters'],
    ['message/send', { ...say('x'), configuration: { historyLength: -1 } }, -32602, /^params\.configuration\.historyLength: /],
    [
      'message/send',
      { ...say('x'), configuration: { acceptedOutputModes: ['image/png'] } },
      -32005,
      'This agent answers with text/plain and application/json',
    ],
    [
      'message/send',
      { ...say('x'), configuration: { pushNotificationConfig: { url: 'https://x.example' } } },
      -32003,
      'Push notifications are not supported',
    ],
    ['SendMessage', sayV10('x', { role: 'user' }), -32602, /^params\.message\.role: /],
    ['SendMessage', sayV10('x', { parts: [{}] }), -32602, 'params.message.parts.0: A part has one of text, data, raw and url'],
    [
      'SendMessage',
      sayV10('x', { parts: [{ text: 'a', url: 'b' }] }),
      -32602,
      'params.message.parts.0: A part has one of text, data, raw and url',
    ],
    ['SendMessage', sayV10('x', { parts: [{ data: 7 }] }), -32602, 'params.message.parts.0: This agent takes objects as data'],
    ['SendMessage', sayV10('x', { parts: [{ raw: 'AAAA' }] }), -32005, 'This agent takes text and data, no files'],
    ['SendMessage', sayV10('x', { parts: [{ url: 'https://x.example' }] }), -32005, 'This agent takes text and data, no files'],
  ])('%s refuses bad parameters', async (method, params, code, message) => {
    const { error } = await rpc(method, params);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
  });

  it('refuses a request without an id, which nobody could be answered by, and does nothing', async () => {
    const { total: before } = await app.services.a2aTasks.list(app.key.id, { limit: 1 });
    const response = await app.request('/a2a', { as: app.key.key, json: { jsonrpc: '2.0', method: 'message/send', params: say('x') } });
    expect(await response.json()).toMatchObject({
      id: null,
      error: { code: -32600, message: 'id: Notifications are not supported: send an id' },
    });
    expect((await app.services.a2aTasks.list(app.key.id, { limit: 1 })).total).toBe(before);
  });

  it('logs what fails when nobody waits for it, without what was said', async () => {
    const broken = await createTestApp();
    broken.services.a2aTasks.move = () => Promise.reject(new TypeError('secret stuff'));
    const params = { ...say('sort a list'), configuration: { blocking: false } };
    const response = await broken.request('/a2a', { json: { jsonrpc: '2.0', id: 1, method: 'message/send', params }, as: broken.key.key });
    const { result } = (await response.json()) as Rpc;
    expect(stateOf(result)).toBe('submitted');
    await broken.settle();
    expect(broken.entries).toContainEqual(
      expect.objectContaining({ level: 'error', event: 'a2a.task.failed', taskId: result.id, errorName: 'TypeError' }),
    );
    expect(JSON.stringify(broken.entries)).not.toContain('secret stuff');
    await broken.close();
  });

  it('tells nothing of a bug, and logs it without what was said', async () => {
    const broken = await createTestApp();
    broken.services.a2aTasks.get = () => Promise.reject(new TypeError('secret stuff'));
    const response = await broken.request('/a2a', {
      json: { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'x' } },
      as: broken.key.key,
    });
    expect(((await response.json()) as Rpc).error).toEqual({ code: -32603, message: 'Internal error' });
    expect(JSON.stringify(broken.entries)).toContain('TypeError');
    expect(JSON.stringify(broken.entries)).not.toContain('secret stuff');
    await broken.close();
  });
});

describe('who may', () => {
  it.each([
    [null, 401, -32600, 'unauthorized'],
    ['omr_wrong', 401, -32600, 'unauthorized'],
  ])('answers %j with %i', async (as, status, code, reason) => {
    const response = await app.request('/a2a', { as, json: { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'x' } } });
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([status, 'Bearer']);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code, data: [{ code: reason }] } });
  });

  it('needs the scope read:skills', async () => {
    const { key } = await app.createKey(['chat']);
    const response = await app.request('/a2a', { as: key, json: { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'x' } } });
    expect([response.status, await response.json()]).toMatchObject([
      403,
      { error: { message: 'The API key lacks the scope read:skills' } },
    ]);
  });

  it('takes POST alone', async () => {
    const response = await app.request('/a2a', { as: app.key.key });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('lets nobody send without end', async () => {
    const response = await app.request('/a2a', { as: app.key.key, body: 'x'.repeat(20 * 1024 * 1024 + 1) });
    expect([response.status, await response.json()]).toMatchObject([
      413,
      { jsonrpc: '2.0', error: { data: [{ code: 'payload_too_large' }] } },
    ]);
  });
});

describe('the agent card', () => {
  const card = async (path: string, headers: Record<string, string> = {}) => {
    const response = await app.request(path, { as: null, headers });
    return { status: response.status, vary: response.headers.get('vary'), body: (await response.json()) as JsonObject };
  };

  it.each(['/.well-known/agent-card.json', '/.well-known/agent.json'])('is at %s for everybody', async (path) => {
    const { status, vary, body } = await card(path);
    expect([status, vary]).toEqual([200, 'a2a-version']);
    expect(body).toMatchObject({
      protocolVersion: '0.3.0',
      url: 'http://localhost/a2a',
      preferredTransport: 'JSONRPC',
      capabilities: { streaming: true, pushNotifications: false },
      security: [{ bearer: [] }, { apiKey: [] }],
      supportedInterfaces: [
        { url: 'http://localhost/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: 'http://localhost/a2a', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      ],
    });
    expect((body.skills as JsonObject[]).map(({ id }) => id)).toEqual(['memory_aware_routing', 'list-capabilities']);
    const { body: current } = await card(path, { 'a2a-version': '1.0' });
    expect(current).toMatchObject({ securityRequirements: [{ schemes: { bearer: {} } }, { schemes: { apiKey: {} } }] });
    expect(current).not.toHaveProperty('protocolVersion');
  });

  it('is of no other revision', async () => {
    const { status, body } = await card('/.well-known/agent-card.json', { 'a2a-version': '7' });
    expect([status, body]).toEqual([400, { error: 'a2a-version: This agent speaks A2A 1.0 and 0.3', code: 'invalid_request' }]);
  });

  it('is read, not written', async () => {
    expect((await app.request('/.well-known/agent-card.json', { method: 'POST', as: null })).status).toBe(404);
  });
});
