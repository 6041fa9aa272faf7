import { describe, expect, it } from 'vitest';
import { type JsonObject, objectsOf } from '../../../src/json.ts';
import { ask } from './ask.ts';

const tool = (name: string) => ({ type: 'function', name, parameters: { type: 'object' }, strict: false });
const call = (id: string, more: object = {}) => ({ type: 'function_call', call_id: id, name: 'weather', arguments: '{}', ...more });
const output = (id: string, more: object = {}) => ({ type: 'function_call_output', call_id: id, output: 'rain', ...more });
const question = { role: 'user', content: [{ type: 'input_text', text: 'call weather\ncall weather' }] };
const send = (more: object) => ask('/v1/responses', { model: 'scripted-test', input: [question], tools: [tool('weather')], ...more });
const refusal = (message: string, status = 400, code: string | null = null) => ({
  status,
  body: { error: { message, type: 'invalid_request_error', param: null, code } },
});

describe('Responses', () => {
  it.each([
    ['text as input', { input: 'say hi' }],
    ['no tools in a list', { tools: [] }],
    [
      'results apart from their calls',
      { input: [question, call('a'), call('b'), { role: 'developer', content: 'x' }, output('b'), output('a')] },
    ],
    ["tools of OpenAI's own", { tools: [{ type: 'web_search' }] }],
  ])('takes %s', async (_, more) => {
    expect((await send(more)).status).toBe(200);
  });

  it.each([
    ['no input', { input: [] }, 'input: text or a list with at least one item'],
    ['129 tools', { tools: Array.from({ length: 129 }, (_, index) => tool(`t${index}`)) }, 'tools: at most 128, got 129'],
    [
      "a tool in Chat Completions' shape",
      { tools: [{ type: 'function', function: { name: 'a' } }] },
      "Missing required parameter: 'tools[0].name'.",
    ],
    ['a bad name', { tools: [tool('eval_code@1.0.0')] }, 'tools[0].name: does not match ^[a-zA-Z0-9_-]{1,64}$'],
    ['a name that is there twice', { tools: [tool('a'), tool('a')] }, 'tools: the name a is there twice'],
    ['a forced choice without tools', { tools: [], tool_choice: 'required' }, "tool_choice: must be specified together with 'tools'"],
    ['an unknown item', { input: [{ type: 'tool_result' }] }, `Invalid value for 'input[0].type': "tool_result"`],
    [
      'an id of another kind',
      { input: [question, call('a', { id: 'call_a' }), output('a')] },
      "Invalid 'input[1].id': 'call_a'. Expected an id that begins with 'fc'.",
    ],
    [
      'a long call id',
      { input: [call('x'.repeat(65)), output('x'.repeat(65))] },
      "Invalid 'input[0].call_id': a text of 1 to 64 characters",
    ],
    [
      'arguments that are an object',
      { input: [call('a', { arguments: {} }), output('a')] },
      "Invalid 'input[0].arguments': expected a string",
    ],
    [
      'an output that is an object',
      { input: [call('a'), output('a', { output: {} })] },
      "Invalid 'input[1].output': expected a string or a list",
    ],
    ['a call without its output', { input: [question, call('a'), call('b'), output('a')] }, 'No tool output found for function call b.'],
    ['an output without its call', { input: [question, output('a')] }, 'No tool call found for function call output with call_id a.'],
    [
      'an output before its call',
      { input: [question, output('a'), call('a')] },
      'No tool call found for function call output with call_id a.',
    ],
    ['a call that is there twice', { input: [call('a'), call('a'), output('a')] }, 'Duplicate function_call with call_id a.'],
    ['an output that is there twice', { input: [call('a'), output('a'), output('a')] }, 'Duplicate function_call_output with call_id a.'],
    [
      'an item that is there twice',
      { input: [call('a', { id: 'fc_1' }), call('b', { id: 'fc_1' }), output('a'), output('b')] },
      'Duplicate item found with id fc_1. Remove duplicate items from your input.',
    ],
    [
      'an approval of nothing',
      { input: [{ type: 'mcp_approval_response', approval_request_id: 'x', approve: true }] },
      'No approval request found with id x.',
    ],
  ])('refuses %s', async (_, more, message) => {
    expect(await send(more)).toEqual(refusal(message));
  });

  it('remembers what it stored, and nothing else', async () => {
    const stored = (await send({})).body;
    const calls = objectsOf(stored.output);
    const outputs = calls.map((item) => output(String(item.call_id)));
    const next = { previous_response_id: stored.id, input: outputs };
    expect((await send(next)).body).toMatchObject({ output: [{ type: 'message' }], previous_response_id: stored.id, store: true });
    expect(await send({ ...next, input: outputs.slice(1) })).toEqual(
      refusal(`No tool output found for function call ${calls[0]?.call_id}.`),
    );
    expect(await send({ ...next, input: [...calls, ...outputs] })).toEqual(
      refusal(`Duplicate item found with id ${calls[0]?.id}. Remove duplicate items from your input.`),
    );
    const references = calls.map(({ id }) => ({ type: 'item_reference', id: id ?? '' }));
    expect((await send({ input: [question, ...references, ...outputs] })).status).toBe(200);

    const forgotten = (await send({ store: false })).body;
    expect(await send({ previous_response_id: forgotten.id })).toEqual(
      refusal(`Previous response with id '${forgotten.id}' not found.`, 400, 'previous_response_not_found'),
    );
    const [item] = objectsOf(forgotten.output);
    expect(await send({ input: [{ type: 'item_reference', id: item?.id }] })).toEqual(
      refusal(`Item with id '${item?.id}' not found. Items are not persisted when 'store' is set to false.`, 404),
    );
  });

  it('wants its reasoning back, sealed and in its place', async () => {
    const reasoned = { store: false, reasoning: { effort: 'low' }, include: ['reasoning.encrypted_content'] };
    const items = objectsOf((await send(reasoned)).body.output);
    const [reasoning, first, second] = items as [JsonObject, JsonObject, JsonObject];
    expect(items.map(({ type }) => type)).toEqual(['reasoning', 'function_call', 'function_call']);
    const outputs = [first, second].map((item) => output(String(item.call_id)));
    const follow = (...given: object[]) => send({ ...reasoned, input: [question, ...given, ...outputs] });
    const without = ({ id: _, ...rest }: JsonObject) => rest;

    expect((await follow(reasoning, first, second)).status).toBe(200);
    expect((await follow(reasoning, without(first), without(second))).status).toBe(200);
    expect((await follow(without(first), without(second))).status).toBe(200);
    expect(await follow(first, second)).toEqual(
      refusal(`Item '${first.id}' of type 'function_call' was provided without its required 'reasoning' item: '${reasoning.id}'.`),
    );
    expect(await follow(reasoning, question, without(first), without(second))).toEqual(
      refusal(`Item '${reasoning.id}' of type 'reasoning' was provided without its required following item.`),
    );
    const { encrypted_content: seal, ...bare } = reasoning;
    expect(seal).toEqual(expect.any(String));
    expect(await follow(bare, first, second)).toEqual(
      refusal(`Item with id '${reasoning.id}' not found. Items are not persisted when 'store' is set to false.`, 404),
    );
    expect(await follow({ ...reasoning, encrypted_content: 'x' }, first, second)).toEqual(
      refusal(`The encrypted content for item ${reasoning.id} could not be verified.`, 400, 'invalid_encrypted_content'),
    );
  });
});
