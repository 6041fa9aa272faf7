import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import { errorReply, messageReply, text, toolUse } from '../support/anthropic-replies.ts';
import { type MockUpstream, startMockUpstream } from '../support/mock-upstream.ts';
import { chatReply } from '../support/openai-replies.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

let upstream: MockUpstream;
let stack: TestStack;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  upstream = await startMockUpstream();
  stack = await startTestStack({ OPENAI_BASE_URL: `${upstream.url}/v1`, ANTHROPIC_BASE_URL: upstream.url });
  openai = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: stack.apiKey, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: stack.url, apiKey: stack.apiKey, maxRetries: 0 });
});
afterAll(async () => {
  await stack?.stop();
  await upstream?.close();
});

const sent = (index: number): JsonObject => upstream.requests[index]?.body ?? {};
const messagesOf = (index: number): JsonObject[] => objectsOf(sent(index).messages);
const blocksOf = (message: JsonObject | undefined): JsonObject[] => objectsOf(message?.content);

describe('runTools of the OpenAI SDK', () => {
  it.each([false, true])('answers its own calls while the gateway answers ours (streamed: %s)', async (streamed) => {
    const path = `runner-${streamed}.txt`;
    upstream.play(
      chatReply({
        calls: [
          ['call_w', 'get_weather', '{"city":"Oslo"}'],
          ['call_f', 'file_write_v1_0_0', JSON.stringify({ path, content: 'x' })],
        ],
      }),
      chatReply({ calls: [['call_r', 'file_read_v1_0_0', JSON.stringify({ path })]] }),
      chatReply({ calls: [['call_w2', 'get_weather', '{"city":"Bergen"}']] }),
      chatReply({ text: 'Rain twice.' }),
    );
    const cities: string[] = [];
    const tool = {
      type: 'function' as const,
      function: {
        name: 'get_weather',
        description: 'Weather of a city',
        parameters: { type: 'object', properties: { city: { type: 'string' } } },
        parse: JSON.parse as (text: string) => { city: string },
        function: ({ city }: { city: string }) => {
          cities.push(city);
          return `rain in ${city}`;
        },
      },
    };
    const params = { model: 'gpt-x', messages: [{ role: 'user' as const, content: 'weather and file' }], tools: [tool] };
    const runner = streamed ? openai.chat.completions.runTools({ ...params, stream: true }) : openai.chat.completions.runTools(params);
    expect(await runner.finalContent()).toBe('Rain twice.');
    expect(cities).toEqual(['Oslo', 'Bergen']);
    expect(upstream.requests).toHaveLength(4);
    expect(messagesOf(3).map((message) => message.tool_call_id ?? message.role)).toEqual([
      'user',
      'assistant',
      'call_w',
      'call_f',
      'assistant',
      'call_r',
      'assistant',
      'call_w2',
    ]);
    expect(messagesOf(3).find((message) => message.tool_call_id === 'call_w2')?.content).toBe('rain in Bergen');
  });
});

describe('the tool runner of the Anthropic SDK', () => {
  const weather = (cities: string[]) =>
    betaTool({
      name: 'get_weather',
      description: 'Weather of a city',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      run: ({ city }) => {
        cities.push(city);
        return `rain in ${city}`;
      },
    });

  it.each([false, true])('answers its own calls while the gateway answers ours (streamed: %s)', async (stream) => {
    const path = `claude-runner-${stream}.txt`;
    upstream.play(
      messageReply({
        content: [toolUse('toolu_w', 'get_weather', { city: 'Oslo' }), toolUse('toolu_f', 'file_write_v1_0_0', { path, content: 'x' })],
        id: 'msg_1',
      }),
      messageReply({ content: [toolUse('toolu_r', 'file_read_v1_0_0', { path })], id: 'msg_2' }),
      messageReply({ content: [toolUse('toolu_w2', 'get_weather', { city: 'Bergen' })], id: 'msg_3' }),
      messageReply({ content: [text('Rain twice.')], id: 'msg_4' }),
    );
    const cities: string[] = [];
    const runner = anthropic.beta.messages.toolRunner({
      model: 'claude-x',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'weather and file' }],
      tools: [weather(cities)],
      stream,
    });
    const final = await runner.runUntilDone();
    expect(final.content).toMatchObject([{ type: 'text', text: 'Rain twice.' }]);
    expect(cities).toEqual(['Oslo', 'Bergen']);
    expect(upstream.requests).toHaveLength(4);
    // The provider keeps no conversation that would lack what the gateway adds.
    expect(upstream.requests.every(({ body }) => !('thread' in body))).toBe(true);
    const ids = messagesOf(3).map((message) => blocksOf(message).map((block) => block.id ?? block.tool_use_id));
    expect(ids).toEqual([[], ['toolu_w', 'toolu_f'], ['toolu_w', 'toolu_f'], ['toolu_r'], ['toolu_r'], ['toolu_w2'], ['toolu_w2']]);
  });
});

describe('a conversation that Anthropic keeps', () => {
  const create = { model: 'claude-x', max_tokens: 100, messages: [{ role: 'user' as const, content: 'hi' }] };

  it('is refused in the API’s own words where skills would be added, so that clients send all of it', async () => {
    upstream.play(messageReply({ content: [text('hello')] }));
    const failure = await anthropic.beta.messages.create({ ...create, thread: { type: 'create' } }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Anthropic.BadRequestError);
    expect(failure).toMatchObject({
      status: 400,
      error: { error: { type: 'invalid_request_error', details: { error_code: 'thread_unsupported_request', unsupported: ['tools'] } } },
    });
    expect(upstream.requests).toHaveLength(0);
    const thread = anthropic.beta.messages.thread({
      model: 'claude-x',
      max_tokens: 100,
      unsupportedRequestBehavior: 'continue_unthreaded',
    });
    expect((await thread.send({ role: 'user', content: 'hi' })).content).toMatchObject([{ text: 'hello' }]);
    expect(objectsOf(sent(0).tools).length).toBeGreaterThan(0);
  });

  it('is left alone where skills are off, and where it goes on', async () => {
    const thread = anthropic.beta.messages.thread({ model: 'claude-x', max_tokens: 100 }, { headers: { 'x-omniroute-skills': 'off' } });
    upstream.play(messageReply({ content: [text('hello')], id: 'msg_1' }));
    await thread.send({ role: 'user', content: 'hi' });
    expect(sent(0)).toMatchObject({ thread: { type: 'create' } });

    upstream.play(messageReply({ content: [text('again')], id: 'msg_2' }));
    const goesOn = { type: 'continue' as const, previous_message_id: 'msg_1' };
    await anthropic.beta.messages.create({ ...create, thread: goesOn });
    expect(sent(0)).toMatchObject({ thread: goesOn });
    expect(sent(0)).not.toHaveProperty('tools');

    // A paused reply is resumed without anything new.
    await anthropic.beta.messages.create({ ...create, messages: [], thread: goesOn });
    expect(sent(1)).toMatchObject({ thread: goesOn, messages: [] });

    upstream.play(errorReply(404, 'not_found_error', 'gone'));
    await expect(anthropic.beta.messages.create({ ...create, thread: goesOn })).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  });
});
