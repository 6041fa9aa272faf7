import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findFreePort } from '../../dev/stack/ports.ts';
import type { JsonObject } from '../../src/json.ts';
import { errorReply, messageReply, text, toolUse } from '../support/anthropic-replies.ts';
import { manageStack } from '../support/manage-stack.ts';
import { type MockUpstream, sendJson, startMockUpstream, type UpstreamHandler } from '../support/mock-upstream.ts';
import { chatReply } from '../support/openai-replies.ts';
import { functionCall, message, responseReply } from '../support/responses-replies.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

/** Each provider has an upstream of its own, so that it shows who was asked. */
let first: MockUpstream;
let second: MockUpstream;
let claude: MockUpstream;
let spare: MockUpstream;
let stack: TestStack;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  [first, second, claude, spare] = await Promise.all([startMockUpstream(), startMockUpstream(), startMockUpstream(), startMockUpstream()]);
  const deadUrl = `http://127.0.0.1:${await findFreePort()}`;
  stack = await startTestStack({
    OPENAI_BASE_URL: `${first.url}/v1`,
    OPENAI_API_KEY: 'sk-first',
    ANTHROPIC_BASE_URL: claude.url,
    ANTHROPIC_API_KEY: 'sk-claude',
    SECOND_KEY: 'sk-second',
    PROVIDERS: JSON.stringify([
      { name: 'second', format: 'openai', baseUrl: `${second.url}/v1`, apiKeySecret: 'SECOND_KEY', models: ['llama-*', 'qwen'] },
      { name: 'spare', format: 'anthropic', baseUrl: spare.url },
      { name: 'dead', format: 'openai', baseUrl: `${deadUrl}/v1` },
      { name: 'deadclaude', format: 'anthropic', baseUrl: deadUrl },
    ]),
  });
  openai = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: stack.apiKey, maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: stack.url, apiKey: stack.apiKey, maxRetries: 0 });
});
afterAll(async () => {
  await stack?.stop();
  await Promise.all([first, second, claude, spare].map((upstream) => upstream?.close()));
});
beforeEach(() => {
  for (const upstream of [first, second, claude, spare]) upstream.play();
});

const asked = (upstream: MockUpstream) => upstream.requests.map(({ body }) => body.model);
const chat = (model: string, headers: Record<string, string> = {}) =>
  openai.chat.completions.create({ model, messages: [{ role: 'user', content: 'hi' }] }, { headers });
const messages = (model: string, headers: Record<string, string> = {}, streamed = false): Promise<Anthropic.Message> => {
  const params: Anthropic.MessageCreateParamsNonStreaming = { model, max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] };
  return streamed ? anthropic.messages.stream(params, { headers }).finalMessage() : anthropic.messages.create(params, { headers });
};
const responses = (model: string, headers: Record<string, string> = {}, streamed = false) =>
  streamed
    ? openai.responses.stream({ model, input: 'hi' }, { headers }).finalResponse()
    : openai.responses.create({ model, input: 'hi' }, { headers });

describe('which provider is asked', () => {
  it('the one whose name stands in front of the model', async () => {
    second.play(chatReply({ text: 'ok' }));
    await chat('second/any-model');
    expect(asked(second)).toEqual(['any-model']);
    expect(second.requests[0]?.headers.authorization).toBe('Bearer sk-second');
    spare.play(messageReply({ content: [text('ok')] }));
    await messages('spare/claude-x');
    expect(asked(spare)).toEqual(['claude-x']);
    // It has no key of its own, and gets nobody else's.
    expect(spare.requests[0]?.headers).not.toHaveProperty('x-api-key');
    expect(spare.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it('the one that lists the model, else the first that lists none, in every format that it speaks', async () => {
    second.play(responseReply({ output: [message('ok')] }));
    await responses('llama-5');
    expect(asked(second)).toEqual(['llama-5']);
    expect(second.requests[0]?.path).toBe('/v1/responses');
    first.play(chatReply({ text: 'ok' }));
    await chat('gpt-x');
    expect(asked(first)).toEqual(['gpt-x']);
    claude.play(messageReply({ content: [text('ok')] }));
    await messages('claude-x');
    expect(asked(claude)).toEqual(['claude-x']);
  });

  it('keeps a model’s own slash', async () => {
    first.play(chatReply({ text: 'ok' }));
    await chat('meta/llama');
    expect(asked(first)).toEqual(['meta/llama']);
  });
});

describe('x-omniroute-fallback', () => {
  const failures: [string, UpstreamHandler][] = [
    ['429', errorReply(429, 'rate_limit_error', 'full')],
    ['500', errorReply(500, 'api_error', 'broken')],
    ['529', errorReply(529, 'overloaded_error', 'busy')],
    ['a hang-up', (_, response) => void response.destroy()],
  ];

  it.each(failures)('goes to the next provider after %s, with its name for the model and its key', async (_, failure) => {
    for (const streamed of [false, true]) {
      claude.play(failure);
      spare.play(messageReply({ content: [text('from the spare')] }));
      const reply = await messages('claude-x', { 'x-omniroute-fallback': 'spare/claude-y' }, streamed);
      expect(reply.content).toMatchObject([{ text: 'from the spare' }]);
      expect([asked(claude), asked(spare)]).toEqual([['claude-x'], ['claude-y']]);
      expect(JSON.stringify(spare.requests)).not.toContain('sk-claude');

      first.play(failure);
      second.play(responseReply({ output: [message('from the second')] }));
      expect((await responses('gpt-x', { 'x-omniroute-fallback': 'llama-5' }, streamed)).output_text).toBe('from the second');
      expect([asked(first), asked(second)]).toEqual([['gpt-x'], ['llama-5']]);
    }
  });

  it('goes past providers that cannot be reached, in the order of the list', async () => {
    second.play(chatReply({ text: 'ok' }));
    await chat('dead/x', { 'x-omniroute-fallback': 'dead/y, llama-1, gpt-x' });
    expect([asked(second), asked(first)]).toEqual([['llama-1'], []]);
    spare.play(messageReply({ content: [text('ok')] }));
    await messages('deadclaude/x', { 'x-omniroute-fallback': 'spare/y' });
    expect(asked(spare)).toEqual(['y']);
  });

  it('gives the last refusal when all fail, and says so in the format when nobody can be reached', async () => {
    claude.play(errorReply(500, 'api_error', 'first'));
    spare.play(errorReply(429, 'rate_limit_error', 'last', { 'retry-after': '3' }));
    await expect(messages('claude-x', { 'x-omniroute-fallback': 'spare/y' })).rejects.toMatchObject({
      status: 429,
      type: 'rate_limit_error',
    });
    await expect(messages('deadclaude/x', { 'x-omniroute-fallback': 'deadclaude/y' })).rejects.toMatchObject({
      status: 502,
      type: 'api_error',
    });
    await expect(chat('dead/x')).rejects.toMatchObject({ status: 502, code: 'upstream_unreachable' });
  });

  it.each([400, 401, 404])('does not go on after %i, which another provider would not mend', async (status) => {
    claude.play(errorReply(status, 'some_error', 'no'));
    await expect(messages('claude-x', { 'x-omniroute-fallback': 'spare/y' })).rejects.toMatchObject({ status });
    expect(asked(spare)).toEqual([]);
  });

  it('never changes the provider after round 1', async () => {
    claude.play(messageReply({ content: [toolUse('toolu_1', 'file_read_v1_0_0', { path: 'a' })] }), errorReply(503, 'api_error', 'later'));
    await expect(messages('claude-x', { 'x-omniroute-fallback': 'spare/y' })).rejects.toMatchObject({ status: 503 });
    expect([asked(claude), asked(spare)]).toEqual([['claude-x', 'claude-x'], []]);

    first.play(errorReply(500, 'api_error', 'no'));
    second.play(
      responseReply({ output: [functionCall('call_1', 'file_read_v1_0_0', '{"path":"a"}')] }),
      responseReply({ output: [message('done')] }),
    );
    expect((await responses('gpt-x', { 'x-omniroute-fallback': 'llama-5' })).output_text).toBe('done');
    expect([asked(first), asked(second)]).toEqual([['gpt-x'], ['llama-5', 'llama-5']]);
  });

  it('is a setting too, which the header replaces', async () => {
    const { call } = manageStack(stack);
    await call('PUT', '/api/settings', { fallbackModels: ['llama-5'] });
    try {
      first.play(sendJson({ error: { message: 'no' } }, 503));
      second.play(chatReply({ text: 'ok' }));
      await chat('gpt-x');
      expect(asked(second)).toEqual(['llama-5']);
      second.play(chatReply({ text: 'ok' }));
      await chat('gpt-x', { 'x-omniroute-fallback': 'qwen' });
      expect(asked(second)).toEqual(['qwen']);
    } finally {
      await call('PUT', '/api/settings', { fallbackModels: [] });
    }
  });

  it('is refused when it names too many', async () => {
    await expect(
      openai.responses.create({ model: 'm', input: 'hi' }, { headers: { 'x-omniroute-fallback': 'a,'.repeat(11) } }),
    ).rejects.toMatchObject({ status: 400 });
  });
});

describe('the list of models', () => {
  const list = (...ids: string[]): JsonObject => ({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) });

  it('has every model in the shape of the OpenAI SDK, under the name that picks its provider', async () => {
    first.play(sendJson(list('gpt-x', 'gpt-y')));
    const models: OpenAI.Model[] = [];
    for await (const model of openai.models.list()) models.push(model);
    expect(models.map(({ id, owned_by }) => [id, owned_by])).toEqual([
      ['gpt-x', 'openai'],
      ['gpt-y', 'openai'],
      ['qwen', 'second'],
    ]);
    expect(first.requests[0]).toMatchObject({ path: '/v1/models', headers: { authorization: 'Bearer sk-first' } });
  });

  it('has those of Anthropic in the shape of its SDK', async () => {
    // The API refuses requests that name no version of it.
    const strict: UpstreamHandler = (request, ...rest) => {
      const refusal = errorReply(400, 'invalid_request_error', 'anthropic-version: header is required');
      const body = { data: [{ type: 'model', id: 'claude-x', display_name: 'X', created_at: '2026-01-01T00:00:00Z' }], has_more: false };
      return (request.headers['anthropic-version'] === undefined ? refusal : sendJson(body))(request, ...rest);
    };
    claude.play(strict);
    spare.play(strict);
    const ids: string[] = [];
    for await (const model of anthropic.models.list()) ids.push(model.id);
    expect(ids).toEqual(['claude-x', 'spare/claude-x']);
    expect(claude.requests[0]?.headers['x-api-key']).toBe('sk-claude');
  });

  it('leaves out providers that do not answer well', async () => {
    first.play(sendJson({ error: 'no' }, 500));
    const page = await openai.models.list();
    expect(page.data.map(({ id }) => id)).toEqual(['qwen']);
  });
});
