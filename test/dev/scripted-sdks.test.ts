import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { type Content, FunctionCallingConfigMode, GoogleGenAI } from '@google/genai';
import { type ServerType, serve } from '@hono/node-server';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScriptedModel } from '../../dev/scripted-model.ts';

// The official clients against the scripted model itself, as they are in front of the real providers.

const MODEL = 'scripted-demo';
const parameters = { type: 'object' as const, properties: { city: { type: 'string' as const } }, required: ['city'] };
const ASK = 'say Both. \ncall weather {"city":"Oslo"}\ncall now\nthen\ncall weather {"city":"Rome"}';
const CALLS = [
  ['weather', { city: 'Oslo' }],
  ['now', {}],
];
const RAIN = '{"output":"rain"}';
const NOON = '{"output":"noon"}';
const SUN = '{"output":"sun"}';
const ANSWER = 'weather answered: rain\nnow answered: noon\nweather answered: sun';

let server: ServerType;
let url: string;
beforeAll(async () => {
  url = await new Promise<string>((resolve) => {
    server = serve({ fetch: createScriptedModel({ now: Date.now }).fetch, hostname: '127.0.0.1', port: 0 }, (info: AddressInfo) =>
      resolve(`http://127.0.0.1:${info.port}`),
    );
  });
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
});

describe.each([false, true])('the OpenAI client, streamed: %s', (streamed) => {
  const client = () => new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });

  it('speaks chat completions with parallel calls over several rounds', async () => {
    const tools: OpenAI.ChatCompletionTool[] = ['weather', 'now'].map((name) => ({ type: 'function', function: { name, parameters } }));
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: ASK }];
    const ask = async (): Promise<OpenAI.ChatCompletion> => {
      const body = { model: MODEL, messages, tools };
      return streamed ? client().chat.completions.stream(body).finalChatCompletion() : client().chat.completions.create(body);
    };
    const called = (body: OpenAI.ChatCompletion) =>
      body.choices[0]?.message.tool_calls?.flatMap((call) => (call.type === 'function' ? [call] : [])) ?? [];

    const first = await ask();
    expect(first.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'Both.' } });
    expect(called(first).map((call) => [call.function.name, JSON.parse(call.function.arguments)])).toEqual(CALLS);
    const [oslo, now] = called(first);
    messages.push(
      {
        role: 'assistant',
        content: 'Both.',
        tool_calls: called(first).map(({ id, type, function: f }) => ({ id, type, function: { name: f.name, arguments: f.arguments } })),
      },
      { role: 'tool', tool_call_id: oslo?.id ?? '', content: RAIN },
      { role: 'tool', tool_call_id: now?.id ?? '', content: NOON },
    );
    const second = await ask();
    const [rome] = called(second);
    expect(rome?.function).toMatchObject({ name: 'weather', arguments: '{"city":"Rome"}' });
    messages.push(second.choices[0]?.message as OpenAI.ChatCompletionMessageParam, {
      role: 'tool',
      tool_call_id: rome?.id ?? '',
      content: SUN,
    });
    expect((await ask()).choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: ANSWER } });
  });

  const tools: OpenAI.Responses.Tool[] = ['weather', 'now'].map((name) => ({ type: 'function', name, parameters, strict: false }));
  const respond = async (body: OpenAI.Responses.ResponseCreateParamsNonStreaming): Promise<OpenAI.Responses.Response> =>
    streamed
      ? client()
          .responses.stream(body as Parameters<OpenAI['responses']['stream']>[0])
          .finalResponse()
      : client().responses.create(body);
  const called = (response: OpenAI.Responses.Response) => response.output.filter((item) => item.type === 'function_call');
  const result = (callId: string | undefined, output: string) => ({ type: 'function_call_output' as const, call_id: callId ?? '', output });

  it('speaks responses that build on the stored ones', async () => {
    const first = await respond({ model: MODEL, input: ASK, tools });
    expect(first).toMatchObject({ status: 'completed', output_text: 'Both.' });
    expect(called(first).map((call) => [call.name, JSON.parse(call.arguments)])).toEqual(CALLS);
    expect(first.usage?.total_tokens).toBe((first.usage?.input_tokens ?? 0) + (first.usage?.output_tokens ?? 0));
    const [oslo, now] = called(first);
    const input = [result(oslo?.call_id, RAIN), result(now?.call_id, NOON)];
    const second = await respond({ model: MODEL, input, previous_response_id: first.id, tools });
    const [rome] = called(second);
    expect(rome).toMatchObject({ name: 'weather', arguments: '{"city":"Rome"}' });
    const last = await respond({ model: MODEL, input: [result(rome?.call_id, SUN)], previous_response_id: second.id, tools });
    expect(last.output_text).toBe(ANSWER);
    expect(last.output[0]).toMatchObject({ type: 'message', phase: 'final_answer' });
  });

  it('speaks responses that are not stored and carry their reasoning', async () => {
    const shared = {
      model: MODEL,
      tools,
      store: false,
      include: ['reasoning.encrypted_content' as const],
      reasoning: { summary: 'auto' as const },
    };
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: ASK }];
    const first = await respond({ ...shared, input });
    expect(first.output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call', 'function_call']);
    expect(first.output[0]).toMatchObject({ summary: [{ text: 'The script goes on, 0 results are there. I call weather and now.' }] });
    expect(first.usage?.output_tokens_details.reasoning_tokens).toBeGreaterThan(0);
    const echo = ({ output }: OpenAI.Responses.Response): OpenAI.Responses.ResponseInput => JSON.parse(JSON.stringify(output));
    input.push(...echo(first), ...called(first).map(({ call_id }, index) => result(call_id, index === 0 ? RAIN : NOON)));
    const second = await respond({ ...shared, input });
    input.push(...echo(second), result(called(second)[0]?.call_id, SUN));
    expect((await respond({ ...shared, input })).output_text).toBe(ANSWER);
    await expect(respond({ ...shared, input: 'go on', previous_response_id: first.id })).rejects.toMatchObject({
      status: 400,
      code: 'previous_response_not_found',
    });
  });
});

describe.each([false, true])('the Anthropic client, streamed: %s', (streamed) => {
  const client = () => new Anthropic({ apiKey: 'none', baseURL: url, maxRetries: 0 });
  const tools: Anthropic.Tool[] = ['weather', 'now'].map((name) => ({ name, input_schema: parameters }));
  const create = async (body: Anthropic.MessageCreateParamsNonStreaming): Promise<Anthropic.Message> =>
    streamed ? client().messages.stream(body).finalMessage() : client().messages.create(body);

  it.each([false, true])('speaks messages with parallel calls over several rounds, thinking: %s', async (thinking) => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: ASK }];
    const ask = () =>
      create({ model: MODEL, max_tokens: 2048, messages, tools, ...(thinking && { thinking: { type: 'enabled', budget_tokens: 1024 } }) });
    const called = (message: Anthropic.Message) => message.content.filter((block) => block.type === 'tool_use');
    const result = (id: string | undefined, content: string) => ({ type: 'tool_result' as const, tool_use_id: id ?? '', content });

    const first = await ask();
    expect(first).toMatchObject({ type: 'message', role: 'assistant', model: MODEL, stop_reason: 'tool_use' });
    expect(first.content.map(({ type }) => type)).toEqual([...(thinking ? ['thinking'] : []), 'text', 'tool_use', 'tool_use']);
    expect(called(first).map(({ name, input }) => [name, input])).toEqual(CALLS);
    expect(first.usage).toMatchObject({ input_tokens: expect.any(Number), cache_read_input_tokens: 0 });
    expect(first.usage.output_tokens).toBeGreaterThan(1);
    const [oslo, now] = called(first);
    messages.push(
      { role: 'assistant', content: first.content },
      { role: 'user', content: [result(oslo?.id, RAIN), result(now?.id, NOON)] },
    );
    const second = await ask();
    const [rome] = called(second);
    expect(rome).toMatchObject({ name: 'weather', input: { city: 'Rome' } });
    messages.push({ role: 'assistant', content: second.content }, { role: 'user', content: [result(rome?.id, SUN)] });
    const last = await ask();
    expect(last.stop_reason).toBe('end_turn');
    expect(last.content.at(-1)).toMatchObject({ type: 'text', text: ANSWER });
  });

  it('calls the tool that is demanded, and none when that is demanded', async () => {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: [{ type: 'text', text: 'Oslo' }] }];
    const ask = (choice: Anthropic.ToolChoice) => create({ model: MODEL, max_tokens: 9, messages, tools, tool_choice: choice });
    expect((await ask({ type: 'tool', name: 'now' })).content).toMatchObject([{ type: 'tool_use', name: 'now', input: { city: 'Oslo' } }]);
    expect((await ask({ type: 'any' })).content).toMatchObject([{ type: 'tool_use', name: 'weather' }]);
    expect((await ask({ type: 'none' })).content).toMatchObject([{ type: 'text' }]);
  });

  it('reads errors in their own class', async () => {
    const failing = create({ model: MODEL, max_tokens: 9, messages: [] });
    await expect(failing).rejects.toBeInstanceOf(Anthropic.BadRequestError);
    await expect(failing).rejects.toThrow('messages: at least one message is required');
    await expect(create({ model: 'claude', max_tokens: 9, messages: [] })).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  });
});

describe('the Anthropic client', () => {
  const client = () => new Anthropic({ apiKey: 'none', baseURL: url, maxRetries: 0 });

  it('counts the tokens that a message would read', async () => {
    const body = { model: MODEL, messages: [{ role: 'user' as const, content: 'say x' }], system: 'Be short.' };
    const counted = await client().messages.countTokens(body);
    expect(counted.input_tokens).toBeGreaterThan(0);
    expect((await client().messages.create({ ...body, max_tokens: 9 })).usage.input_tokens).toBe(counted.input_tokens);
  });

  it('lists the models', async () => {
    const page = await client().models.list();
    expect(page.data.map(({ type, id }) => [type, id])).toEqual([
      ['model', 'scripted-demo'],
      ['model', 'scripted-test'],
    ]);
    expect(page.hasNextPage()).toBe(false);
  });
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

describe.each(['v1', 'v1beta'])('the Google client, version %s', (apiVersion) => {
  const client = () => new GoogleGenAI({ apiKey: 'none', apiVersion, httpOptions: { baseUrl: url } });
  const functionDeclarations = ['weather', 'now'].map((name) => ({ name, parametersJsonSchema: parameters }));
  const config = { tools: [{ functionDeclarations }] };
  const result = (name: string, response: string) => ({
    functionResponse: { name, response: JSON.parse(response) as Record<string, unknown> },
  });

  /** The parts of an answer, and what was counted for it. */
  async function ask(contents: Content[], streamed: boolean) {
    const parameters = { model: MODEL, contents, config };
    const chunks = streamed
      ? await collect(await client().models.generateContentStream(parameters))
      : [await client().models.generateContent(parameters)];
    expect(new Set(chunks.map(({ responseId }) => responseId)).size).toBe(1);
    expect(chunks.map((chunk) => chunk.candidates?.[0]?.finishReason)).toEqual([...chunks.slice(1).map(() => undefined), 'STOP']);
    return { parts: chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []), usage: chunks.at(-1)?.usageMetadata };
  }

  it.each([false, true])('speaks generateContent with parallel calls over several rounds, streamed: %s', async (streamed) => {
    const contents: Content[] = [{ role: 'user', parts: [{ text: ASK }] }];
    const first = await ask(contents, streamed);
    const calls = first.parts.filter((part) => part.functionCall !== undefined);
    expect(calls.map(({ functionCall: call }) => [call?.name, call?.args ?? {}])).toEqual(CALLS);
    expect(calls.map(({ thoughtSignature }) => thoughtSignature !== undefined)).toEqual([true, false]);
    expect(first.usage?.totalTokenCount).toBe((first.usage?.promptTokenCount ?? 0) + (first.usage?.candidatesTokenCount ?? 0));
    contents.push({ role: 'model', parts: first.parts }, { role: 'user', parts: [result('weather', RAIN), result('now', NOON)] });
    const second = await ask(contents, streamed);
    expect(second.parts.map(({ functionCall: call }) => call?.args).filter(Boolean)).toEqual([{ city: 'Rome' }]);
    contents.push({ role: 'model', parts: second.parts }, { role: 'user', parts: [result('weather', SUN)] });
    const last = await ask(contents, streamed);
    expect(last.parts.map(({ text }) => text).join('')).toBe(ANSWER);
  });

  it('obeys the mode of calling', async () => {
    const call = async (mode: FunctionCallingConfigMode, allowedFunctionNames?: string[]) => {
      const functionCallingConfig = { mode, ...(allowedFunctionNames && { allowedFunctionNames }) };
      const answer = await client().models.generateContent({
        model: MODEL,
        contents: 'Oslo',
        config: { ...config, toolConfig: { functionCallingConfig } },
      });
      return answer.functionCalls?.map(({ name, args }) => [name, args]);
    };
    expect(await call(FunctionCallingConfigMode.ANY, ['now'])).toEqual([['now', { city: 'Oslo' }]]);
    expect(await call(FunctionCallingConfigMode.ANY)).toEqual([['weather', { city: 'Oslo' }]]);
    expect(await call(FunctionCallingConfigMode.NONE)).toBeUndefined();
    expect(await call(FunctionCallingConfigMode.AUTO)).toBeUndefined();
  });

  it('shows its thoughts when asked to', async () => {
    const answer = await client().models.generateContent({
      model: MODEL,
      contents: 'say x',
      config: { thinkingConfig: { includeThoughts: true } },
    });
    expect(answer.candidates?.[0]?.content?.parts?.map(({ text, thought }) => [text, thought])).toEqual([
      ['The script goes on, 0 results are there. I answer.', true],
      ['x', undefined],
    ]);
    expect(answer.usageMetadata?.thoughtsTokenCount).toBeGreaterThan(0);
  });

  it('reads errors and lists the models', async () => {
    await expect(client().models.generateContent({ model: 'gemini', contents: 'x' })).rejects.toMatchObject({ status: 404 });
    const models = await collect(await client().models.list());
    expect(models.map(({ name }) => name)).toEqual(['models/scripted-demo', 'models/scripted-test']);
  });
});
