import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import { messageReply, text, toolUse } from '../support/anthropic-replies.ts';
import { manageStack, type StackManagement } from '../support/manage-stack.ts';
import { type MockUpstream, startMockUpstream, type UpstreamHandler } from '../support/mock-upstream.ts';
import { chatReply } from '../support/openai-replies.ts';
import { functionCall, message, responseReply } from '../support/responses-replies.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let upstream: MockUpstream;
let stack: TestStack;
let management: StackManagement;

beforeAll(async () => {
  upstream = await startMockUpstream();
  stack = await startTestStack({ OPENAI_BASE_URL: `${upstream.url}/v1`, ANTHROPIC_BASE_URL: upstream.url });
  management = manageStack(stack);
  const { data } = await management.call('GET', '/api/skills?q=file_write');
  await management.call('PUT', `/api/skills/${objectsOf(data)[0]?.id}`, { policy: 'hybrid' });
});
afterAll(async () => {
  await stack?.stop();
  await upstream?.close();
});

/** How a format sends a request, lets a model call or answer, and gives results back. */
interface Format {
  path: string;
  request: JsonObject;
  call(id: string, name: string, input: JsonObject): UpstreamHandler;
  answer(words: string): UpstreamHandler;
  results(body: JsonObject): JsonObject[];
}

const parse = (content: unknown): JsonObject => JSON.parse(String(content)) as JsonObject;
const user = { role: 'user', content: 'go' };

const formats: Record<string, Format> = {
  chat: {
    path: '/v1/chat/completions',
    request: { model: 'm', messages: [user] },
    call: (id, name, input) => chatReply({ calls: [[id, name, JSON.stringify(input)]] }),
    answer: (words) => chatReply({ text: words }),
    results: ({ messages }) =>
      objectsOf(messages)
        .filter((sent) => sent.role === 'tool')
        .map((sent) => parse(sent.content)),
  },
  messages: {
    path: '/v1/messages',
    request: { model: 'm', max_tokens: 100, messages: [user] },
    call: (id, name, input) => messageReply({ content: [toolUse(id, name, input)] }),
    answer: (words) => messageReply({ content: [text(words)] }),
    results: ({ messages }) =>
      objectsOf(messages)
        .flatMap((sent) => objectsOf(sent.content))
        .filter((block) => block.type === 'tool_result')
        .map((block) => parse(block.content)),
  },
  responses: {
    path: '/v1/responses',
    request: { model: 'm', input: [user] },
    call: (id, name, input) => responseReply({ output: [functionCall(id, name, JSON.stringify(input))] }),
    answer: (words) => responseReply({ output: [message(words)] }),
    results: ({ input }) =>
      objectsOf(input)
        .filter((item) => item.type === 'function_call_output')
        .map((item) => parse(item.output)),
  },
};

async function post(path: string, body: JsonObject, headers: Record<string, string> = {}, key = stack.apiKey) {
  const response = await fetch(`${stack.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

/** An input of file_write that adds one letter to a file, so that the file shows how often it ran. */
const newInput = (): JsonObject & { path: string } => ({ path: `${randomUUID()}.txt`, content: 'x', append: true });

async function contentOf({ path }: { path: string }): Promise<string | undefined> {
  const { text: body } = await post('/api/skills/executions', { skillName: 'file_read', input: { path } });
  const { execution } = JSON.parse(body) as { execution: { output: { content?: string } | null } };
  return execution.output?.content;
}

describe.each(Object.entries(formats))('a call of a hybrid skill over %s', (_, format) => {
  /** Lets the model make the call, and gives what it reads of it. */
  async function propose(input: JsonObject, headers: Record<string, string> = {}, key = stack.apiKey, stream = false) {
    upstream.play(format.call('call_1', 'file_write_v1_0_0', input), format.answer('ok'));
    const { status, text: body } = await post(format.path, { ...format.request, stream }, headers, key);
    const [result = {}] = format.results(upstream.requests[1]?.body ?? {});
    return { status, body, result, approvalId: String(result.approvalId) };
  }
  const decide = (id: string, decision: 'approve' | 'deny', key = stack.apiKey) =>
    post(`/api/skills/approvals/${id}/${decision}`, {}, {}, key);

  it.each([false, true])('is not run before a person approves, and then once (streamed: %s)', async (stream) => {
    const input = newInput();
    const session = randomUUID();
    const headers = { 'x-omniroute-session': session };
    const parked = await propose(input, headers, stack.apiKey, stream);
    expect(parked.result).toMatchObject({
      success: false,
      approvalRequired: true,
      error: expect.stringMatching(/^The call was NOT run: it needs the user's approval \(approval id [0-9a-f-]{36}, until .*\)\./),
    });
    expect(await management.executionsOf(session)).toMatchObject([{ status: 'pending' }]);

    expect(await decide(parked.approvalId, 'approve')).toMatchObject({ status: 200 });
    expect(await contentOf(input)).toBeUndefined();
    expect((await propose(input, headers, stack.apiKey, stream)).result).toEqual({ success: true, path: input.path, bytesWritten: 1 });
    expect(await contentOf(input)).toBe('x');
    // One row from its proposal to its end.
    expect(await management.executionsOf(session)).toMatchObject([{ status: 'success' }]);

    expect((await propose(input)).result).toMatchObject({ approvalRequired: true });
    expect(await contentOf(input)).toBe('x');
  });

  it('is approved in-band by x-omniroute-approve', async () => {
    const input = newInput();
    const { approvalId } = await propose(input);
    expect((await propose(input, { 'x-omniroute-approve': approvalId })).result).toMatchObject({ success: true });
    expect(await contentOf(input)).toBe('x');
    // A request that is sent again says it again; it approves nothing new.
    expect((await propose(input, { 'x-omniroute-approve': approvalId })).result).toMatchObject({ approvalRequired: true });
    expect(await contentOf(input)).toBe('x');
  });

  it('that was declined tells the model so', async () => {
    const input = newInput();
    const session = randomUUID();
    const { approvalId } = await propose(input, { 'x-omniroute-session': session });
    expect(await decide(approvalId, 'deny')).toMatchObject({ status: 200 });
    expect((await propose(input)).result).toEqual({ success: false, error: 'Not run: The user declined' });
    const late = await propose(input, { 'x-omniroute-approve': approvalId });
    expect(late.status).toBe(409);
    expect(JSON.parse(late.body)).toMatchObject({ error: { message: 'The approval is already denied' } });
    expect(await management.executionsOf(session)).toMatchObject([{ status: 'error', errorMessage: 'The user declined' }]);
    expect(await contentOf(input)).toBeUndefined();
  });

  it('is approved with its arguments and for its owner alone', async () => {
    const input = newInput();
    const { approvalId } = await propose(input);
    const another = await management.createKey();
    expect(await decide(approvalId, 'approve', another)).toMatchObject({ status: 404 });
    expect(await propose(input, { 'x-omniroute-approve': approvalId }, another)).toMatchObject({ status: 404 });
    await decide(approvalId, 'approve');
    expect((await propose(input, {}, another)).result).toMatchObject({ approvalRequired: true });
    expect((await propose({ ...input, content: 'y' })).result).toMatchObject({ approvalRequired: true });
    expect(await contentOf(input)).toBeUndefined();
    // The order of the arguments is no difference.
    const { path, content, append } = input;
    expect((await propose({ append: append ?? true, content: content ?? '', path })).result).toMatchObject({ success: true });
  });

  it('of an unknown approval is refused in the format’s shape', async () => {
    const { status, body } = await propose(newInput(), { 'x-omniroute-approve': 'nobody-knows-it' });
    expect(status).toBe(404);
    expect(JSON.parse(body)).toMatchObject({ error: { message: 'No approval with id nobody-knows-it' } });
  });
});
