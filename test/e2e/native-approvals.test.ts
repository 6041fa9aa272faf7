import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import { manageStack, type StackManagement } from '../support/manage-stack.ts';
import { type MockUpstream, startMockUpstream } from '../support/mock-upstream.ts';
import { functionCall, message, reasoning, responseReply } from '../support/responses-replies.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

type Item = OpenAI.Responses.ResponseInputItem;
type Reply = OpenAI.Responses.Response;
type Asked = OpenAI.Responses.ResponseOutputItem.McpApprovalRequest;

let upstream: MockUpstream;
let stack: TestStack;
let management: StackManagement;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startMockUpstream();
  stack = await startTestStack({ OPENAI_BASE_URL: `${upstream.url}/v1` });
  management = manageStack(stack);
  client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: stack.apiKey, maxRetries: 0 });
  const { data } = await management.call('GET', '/api/skills?q=file_write');
  await management.call('PUT', `/api/skills/${objectsOf(data)[0]?.id}`, { policy: 'hybrid' });
});
afterAll(async () => {
  await stack?.stop();
  await upstream?.close();
});

const weather: OpenAI.Responses.FunctionTool = { type: 'function', name: 'get_weather', parameters: { type: 'object' }, strict: false };
const user = (content: string): Item => ({ role: 'user', content });
const send = (streamed: boolean, params: JsonObject, headers: Record<string, string> = {}): Promise<Reply> => {
  const whole = { model: 'gpt-5-x', ...params } as unknown as OpenAI.Responses.ResponseCreateParamsNonStreaming;
  return streamed ? client.responses.stream(whole as never, { headers }).finalResponse() : client.responses.create(whole, { headers });
};
const inputOf = (index: number): JsonObject[] => objectsOf(upstream.requests[index]?.body.input);
const executionsOf = (reply: Reply) => (reply as unknown as { omniroute: { executions: JsonObject[] } }).omniroute.executions;
const askedIn = (reply: Reply): Asked => {
  const asked = reply.output.find((item) => item.type === 'mcp_approval_request');
  if (asked === undefined) throw new Error('nothing was asked');
  return asked;
};
const approvalIdOf = ({ id }: Asked): string => id.replace('mcpr_omniroute_', '');
const answer = ({ id }: Asked, approve: boolean, fields: JsonObject = {}): Item => ({
  type: 'mcp_approval_response',
  approval_request_id: id,
  approve,
  ...fields,
});
const decide = (asked: Asked, decision: 'approve' | 'deny') =>
  management.call('POST', `/api/skills/approvals/${approvalIdOf(asked)}/${decision}`);

/** An input of file_write that adds one letter to a file, so that the file shows how often it ran. */
const newInput = () => ({ path: `${randomUUID()}.txt`, content: 'x', append: true });
async function contentOf({ path }: { path: string }): Promise<string | undefined> {
  const response = await fetch(`${stack.url}/api/skills/executions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ skillName: 'file_read', input: { path } }),
  });
  const { execution } = (await response.json()) as { execution: { output: { content?: string } | null } };
  return execution.output?.content;
}

/** The call with its result, as the provider gets it in place of question and answer. */
const settled = (asked: Asked, input: object, output: unknown): JsonObject[] => {
  const call_id = `call_${approvalIdOf(asked)}`;
  return [
    { type: 'function_call', call_id, name: 'file_write_v1_0_0', arguments: JSON.stringify(input) },
    { type: 'function_call_output', call_id, output: output as string },
  ];
};
const success = ({ path }: { path: string }) => JSON.stringify({ success: true, path, bytesWritten: 1 });

/** Lets the model propose a call; the reply that asks for its approval. */
async function propose(input: object, { streamed = false, params = {} }: { streamed?: boolean; params?: JsonObject } = {}): Promise<Reply> {
  upstream.play(
    responseReply({
      output: [reasoning('rs_1', 'secret'), functionCall('call_1', 'file_write_v1_0_0', JSON.stringify(input))],
      id: 'resp_1',
    }),
    responseReply({ output: [message('Please approve.', 'msg_2')], id: 'resp_2' }),
  );
  return send(streamed, { input: [{ role: 'user', content: 'write' }], ...params });
}

/** Sends the next request, which the model answers at once; the input that it got. */
async function next(input: Item[], params: JsonObject = {}, streamed = false, headers: Record<string, string> = {}) {
  upstream.play(responseReply({ output: [message('ok', 'msg_3')], id: 'resp_3' }));
  const reply = await send(streamed, { ...params, input: input as unknown as JsonObject[] }, headers);
  return { reply, input: inputOf(0) };
}

describe('a call of a hybrid skill over /v1/responses', () => {
  it.each([false, true])('asks the client by an item of its own (streamed: %s)', async (streamed) => {
    const input = newInput();
    const reply = await propose(input, { streamed });
    expect(reply.status).toBe('completed');
    expect(reply.output.map((item) => item.type)).toEqual(['reasoning', 'message', 'mcp_approval_request']);
    expect(askedIn(reply)).toEqual({
      type: 'mcp_approval_request',
      id: expect.stringMatching(/^mcpr_omniroute_[0-9a-f-]{36}$/),
      name: 'file_write_v1_0_0',
      arguments: JSON.stringify(input),
      server_label: 'omniroute',
    });
    expect(String(inputOf(1).at(-1)?.output)).toContain('NOT run');
    expect(String(inputOf(1).at(-1)?.output)).toContain(approvalIdOf(askedIn(reply)));
    expect(await contentOf(input)).toBeUndefined();
  });

  it('is asked about once in a stream, whole and before the end', async () => {
    const input = newInput();
    const call = () => responseReply({ output: [functionCall('call_1', 'file_write_v1_0_0', JSON.stringify(input))] });
    upstream.play(call(), call(), responseReply({ output: [message('Please approve.')] }));
    const events: string[] = [];
    const stream = client.responses.stream({ model: 'gpt-5-x', input: 'write' });
    stream.on('event', (event) => events.push(event.type));
    const reply = await stream.finalResponse();
    expect(events.slice(-3)).toEqual(['response.output_item.added', 'response.output_item.done', 'response.completed']);
    expect(reply.output.filter((item) => item.type === 'mcp_approval_request')).toHaveLength(1);
  });

  it.each([false, true])('runs once when the client approves and names the reply (streamed: %s)', async (streamed) => {
    const input = newInput();
    const first = await propose(input);
    const asked = askedIn(first);
    const back = await next([answer(asked, true), user('go on')], { previous_response_id: first.id }, streamed);
    expect(upstream.requests[0]?.body.previous_response_id).toBe('resp_2');
    expect(back.input).toEqual([...settled(asked, input, success(input)), user('go on')]);
    expect(back.reply.output_text).toBe('ok');
    expect(executionsOf(back.reply)).toMatchObject([{ skill: 'file_write@1.0.0', status: 'success' }]);
    expect(await contentOf(input)).toBe('x');
    // Sent again, it gets the same result.
    const again = await next([answer(asked, true)], { previous_response_id: first.id }, streamed);
    expect(again.input).toEqual(settled(asked, input, success(input)));
    expect(executionsOf(again.reply)).toEqual([]);
    expect(await contentOf(input)).toBe('x');
    expect(await management.call('GET', `/api/skills/approvals?limit=200`)).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ id: approvalIdOf(asked), status: 'used' })]),
    });
  });

  it.each([false, true])(
    'runs once when the client approves and sends the items back, turn after turn (streamed: %s)',
    async (streamed) => {
      const input = newInput();
      const store = { store: false };
      const first = await propose(input, { streamed, params: store });
      const asked = askedIn(first);
      const history = [user('write'), ...(first.output as Item[]), answer(asked, true)];
      const second = await next(history, store, streamed);
      // The reasoning had led to the call that is hidden.
      const expected = [user('write'), message('Please approve.', 'msg_2'), ...settled(asked, input, success(input))];
      expect(second.input).toMatchObject(expected);
      const third = await next([...history, ...(second.reply.output as Item[]), user('and now?')], store, streamed);
      expect(third.input).toMatchObject([...expected, message('ok', 'msg_3'), user('and now?')]);
      expect(await contentOf(input)).toBe('x');
    },
  );

  it('runs once when the answer comes twice at the same time', async () => {
    const input = newInput();
    const first = await propose(input);
    const asked = askedIn(first);
    upstream.play(responseReply({ output: [message('ok')] }));
    await Promise.all(
      [1, 2, 3].map(() => send(false, { input: [answer(asked, true)] as unknown as JsonObject[], previous_response_id: first.id })),
    );
    expect([0, 1, 2].map(inputOf)).toEqual([1, 2, 3].map(() => settled(asked, input, success(input))));
    expect(await contentOf(input)).toBe('x');
  });

  it('tells the model that the user declined, and why', async () => {
    const input = newInput();
    const first = await propose(input);
    const asked = askedIn(first);
    const params = { previous_response_id: first.id };
    const { input: sent } = await next([answer(asked, false, { reason: 'not today' })], params);
    expect(sent).toEqual(settled(asked, input, '{"success":false,"error":"Not run: The user declined: not today"}'));
    // A change of mind is too late.
    const late = await next([answer(asked, true)], params);
    expect(late.input).toEqual(settled(asked, input, '{"success":false,"error":"Not run: The user declined"}'));
    expect(await contentOf(input)).toBeUndefined();
  });

  it('that nobody has answered is told to the model as not run', async () => {
    const input = newInput();
    const first = await propose(input, { params: { store: false } });
    const { input: sent } = await next([user('write'), ...(first.output as Item[]), user('never mind')], { store: false });
    expect(sent).toEqual([
      user('write'),
      message('Please approve.', 'msg_2'),
      ...settled(askedIn(first), input, expect.stringContaining('NOT run')),
      user('never mind'),
    ]);
    expect(await contentOf(input)).toBeUndefined();
  });

  it('that was approved over REST runs when the items come back', async () => {
    const input = newInput();
    const first = await propose(input, { params: { store: false } });
    await decide(askedIn(first), 'approve');
    const { input: sent } = await next([user('write'), ...(first.output as Item[]), user('I have approved it')], { store: false });
    expect(sent.slice(-3)).toEqual([...settled(askedIn(first), input, success(input)), user('I have approved it')]);
    expect(await contentOf(input)).toBe('x');
  });

  it('cannot be denied once it is approved', async () => {
    const input = newInput();
    const first = await propose(input);
    const asked = askedIn(first);
    await decide(asked, 'approve');
    await expect(next([answer(asked, false)], { previous_response_id: first.id })).rejects.toMatchObject({ status: 409, code: 'conflict' });
    await next([answer(asked, true)], { previous_response_id: first.id });
    const { input: sent } = await next([answer(asked, false)], { previous_response_id: first.id });
    expect(sent).toEqual(settled(asked, input, success(input)));
  });

  it('is its owner’s alone', async () => {
    const input = newInput();
    const asked = askedIn(await propose(input));
    const another = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: await management.createKey(), maxRetries: 0 });
    upstream.play(responseReply({ output: [message('ok')] }));
    for (const item of [answer(asked, true), asked]) {
      await expect(another.responses.create({ model: 'm', input: [item] })).rejects.toMatchObject({ status: 404, code: 'not_found' });
    }
    expect(upstream.requests).toHaveLength(0);
    expect(await contentOf(input)).toBeUndefined();
  });

  it('runs with its answer even where no skills are offered', async () => {
    const input = newInput();
    const first = await propose(input);
    const params = { previous_response_id: first.id };
    const { input: sent } = await next([answer(askedIn(first), true)], params, false, { 'x-omniroute-skills': 'off' });
    expect(sent).toEqual(settled(askedIn(first), input, success(input)));
    expect(upstream.requests[0]?.body).not.toHaveProperty('tools');
  });

  it.each([false, true])('stands beside calls of the client, and both are answered (streamed: %s)', async (streamed) => {
    const input = newInput();
    const items = [functionCall('call_w', 'get_weather', '{}'), functionCall('call_1', 'file_write_v1_0_0', JSON.stringify(input))];
    const params = { store: false, tools: [weather] as unknown as JsonObject[] };
    upstream.play(responseReply({ output: items }));
    const first = await send(streamed, { ...params, input: [{ role: 'user', content: 'both' }] });
    expect(first.output.map((item) => item.type)).toEqual(['function_call', 'mcp_approval_request']);
    const asked = askedIn(first);
    const { call_id } = first.output[0] as OpenAI.Responses.ResponseFunctionToolCall;
    const rain: Item = { type: 'function_call_output', call_id, output: 'rain' };
    const { input: sent } = await next([user('both'), ...(first.output as Item[]), answer(asked, true), rain], params, streamed);
    expect(sent).toEqual([
      user('both'),
      ...items,
      { type: 'function_call_output', call_id: 'call_w', output: 'rain' },
      { type: 'function_call_output', call_id: 'call_1', output: expect.stringContaining('NOT run') },
      ...settled(asked, input, success(input)),
    ]);
  });

  it('works in inline mode', async () => {
    const input = newInput();
    const inline = { 'x-omniroute-skills': 'inline' };
    const call = functionCall('call_1', 'file_write_v1_0_0', JSON.stringify(input));
    upstream.play(responseReply({ output: [reasoning('rs_1', 'secret'), call] }));
    const first = await send(false, { store: false, input: [{ role: 'user', content: 'write' }] }, inline);
    expect(first.output.map((item) => item.type)).toEqual(['reasoning', 'function_call', 'function_call_output', 'mcp_approval_request']);
    const asked = askedIn(first);
    const { input: sent } = await next([user('write'), ...(first.output as Item[]), answer(asked, true)], { store: false }, false, inline);
    expect(sent).toEqual([user('write'), ...settled(asked, input, success(input))]);
  });

  it('leaves the approvals of a provider’s own tools alone', async () => {
    const asked = { type: 'mcp_approval_request' as const, id: 'mcpr_1', name: 'roll', arguments: '{}', server_label: 'dice' };
    upstream.play(responseReply({ output: [asked] }));
    expect((await send(false, { input: 'roll' })).output).toEqual([asked]);
    const input = [user('roll'), asked, answer(asked, true)];
    expect((await next(input)).input).toEqual(input);
  });
});
