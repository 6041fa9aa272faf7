import { describe, expect, it } from 'vitest';
import { type JsonObject, objectsOf } from '../../../src/json.ts';
import { ask, askForText, readEvents } from './ask.ts';

const ASK = 'say One two.\ncall weather {"city":"Oslo"}\ncall now';
const VERSION = { 'anthropic-version': '2023-06-01' };

describe('a stream of Messages', () => {
  const tools = ['weather', 'now'].map((name) => ({ name, input_schema: { type: 'object' } }));
  const request = { model: 'scripted-test', max_tokens: 2048, messages: [{ role: 'user', content: ASK }], tools };
  const stream = async (more: object = {}) => {
    const { type, text } = await askForText('/v1/messages', { ...request, ...more, stream: true }, VERSION);
    expect(type).toBe('text/event-stream');
    return readEvents(text);
  };

  it('has the events of the real one, in its order', async () => {
    const events = await stream();
    const brief = events.map(({ type, index, content_block: block, delta }) => {
      const detail = (block ?? delta) as JsonObject | undefined;
      return [type, index, detail?.type].filter((value) => value !== undefined).join(' ');
    });
    expect(brief).toEqual([
      'message_start',
      'content_block_start 0 text',
      'ping',
      'content_block_delta 0 text_delta',
      'content_block_delta 0 text_delta',
      'content_block_stop 0',
      'content_block_start 1 tool_use',
      'content_block_delta 1 input_json_delta',
      'content_block_delta 1 input_json_delta',
      'content_block_delta 1 input_json_delta',
      'content_block_stop 1',
      'content_block_start 2 tool_use',
      'content_block_delta 2 input_json_delta',
      'content_block_stop 2',
      'message_delta',
      'message_stop',
    ]);
    expect(events[0]?.message).toMatchObject({ content: [], stop_reason: null, usage: { output_tokens: 1 } });
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use', stop_sequence: null } });
    const plain = (await ask('/v1/messages', request, VERSION)).body;
    expect(events.at(-2)?.usage).toEqual(plain.usage);
  });

  it('signs thinking at its end', async () => {
    const events = await stream({ thinking: { type: 'adaptive' } });
    const deltas = events
      .filter(({ index, type }) => index === 0 && type === 'content_block_delta')
      .map(({ delta }) => delta as JsonObject);
    expect(new Set(deltas.slice(0, -1).map(({ type }) => type))).toEqual(new Set(['thinking_delta']));
    expect(deltas.at(-1)).toEqual({ type: 'signature_delta', signature: expect.any(String) });
  });

  it('carries an input that is no JSON as it is', async () => {
    const events = await stream({ messages: [{ role: 'user', content: 'call now {broken' }] });
    const pieces = events.flatMap(({ delta }) => (delta as JsonObject | undefined)?.partial_json ?? []);
    expect(pieces.join('')).toBe('{broken');
  });
});

describe('a stream of Responses', () => {
  const tools = ['weather', 'now'].map((name) => ({ type: 'function', name, parameters: {} }));
  const stream = async (more: object = {}) => {
    const { type, text } = await askForText('/v1/responses', { model: 'scripted-test', input: ASK, tools, stream: true, ...more });
    expect(type).toBe('text/event-stream');
    expect(text).not.toContain('[DONE]');
    return readEvents(text);
  };

  it('has the events of the real one, in its order and numbered', async () => {
    const events = await stream({ reasoning: { summary: 'auto' }, include: ['reasoning.encrypted_content'] });
    const types = events.map(({ type, output_index: at }) =>
      [String(type).replace('response.', ''), at].filter((value) => value !== undefined).join(' '),
    );
    const once = types.filter((type, index) => type !== types[index - 1]);
    expect(once).toEqual([
      'created',
      'in_progress',
      'output_item.added 0',
      'reasoning_summary_part.added 0',
      'reasoning_summary_text.delta 0',
      'reasoning_summary_text.done 0',
      'reasoning_summary_part.done 0',
      'output_item.done 0',
      'output_item.added 1',
      'content_part.added 1',
      'output_text.delta 1',
      'output_text.done 1',
      'content_part.done 1',
      'output_item.done 1',
      'output_item.added 2',
      'function_call_arguments.delta 2',
      'function_call_arguments.done 2',
      'output_item.done 2',
      'output_item.added 3',
      'function_call_arguments.delta 3',
      'function_call_arguments.done 3',
      'output_item.done 3',
      'completed',
    ]);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
    const [created, last] = [events[0]?.response as JsonObject, events.at(-1)?.response as JsonObject];
    expect(created).toMatchObject({ id: last.id, status: 'in_progress', output: [], usage: null });
    expect(last).toMatchObject({ status: 'completed', usage: { total_tokens: expect.any(Number) } });
    const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item);
    expect(done).toEqual(last.output);
    expect(events[2]?.item).not.toHaveProperty('encrypted_content');
    expect(done[0]).toHaveProperty('encrypted_content');
  });

  it('is remembered like a plain one', async () => {
    const response = (await stream()).at(-1)?.response as JsonObject;
    const input = objectsOf(response.output).flatMap(({ call_id: id }) =>
      id ? [{ type: 'function_call_output', call_id: id, output: 'x' }] : [],
    );
    const { body } = await ask('/v1/responses', { model: 'scripted-test', previous_response_id: response.id, input });
    expect(objectsOf(objectsOf(body.output)[0]?.content)[0]?.text).toBe('weather answered: x\nnow answered: x');
  });
});

describe('a stream of generateContent', () => {
  const tools = [{ functionDeclarations: [{ name: 'weather' }, { name: 'now' }] }];
  const path = '/v1beta/models/scripted-test:streamGenerateContent';
  const stream = async (query: string, text = ASK) =>
    askForText(`${path}${query}`, { contents: [{ role: 'user', parts: [{ text }] }], tools });
  const brief = (chunks: JsonObject[]) =>
    chunks.map(({ candidates }) => {
      const { content, finishReason } = objectsOf(candidates)[0] as JsonObject;
      const [part] = objectsOf((content as JsonObject).parts) as [JsonObject];
      return [part.text ?? (part.functionCall as JsonObject).name, 'thoughtSignature' in part, finishReason];
    });
  const expected = [
    ['One', false, undefined],
    [' two.', false, undefined],
    ['weather', true, undefined],
    ['now', false, undefined],
    ['', false, 'STOP'],
  ];

  it('is one of events, parted by CRLF', async () => {
    const { type, text } = await stream('?alt=sse');
    expect(type).toBe('text/event-stream');
    const blocks = text.split('\r\n\r\n');
    expect(blocks.pop()).toBe('');
    const chunks = blocks.map((block) => JSON.parse(block.replace(/^data: /, '')) as JsonObject);
    expect(brief(chunks)).toEqual(expected);
    expect(chunks.at(-1)?.usageMetadata).toMatchObject({ candidatesTokenCount: expect.any(Number) });
    expect(chunks[0]?.usageMetadata).not.toHaveProperty('candidatesTokenCount');
  });

  it('is an array otherwise', async () => {
    const { type, text } = await stream('');
    expect(type).toBe('application/json; charset=UTF-8');
    expect(brief(JSON.parse(text) as JsonObject[])).toEqual(expected);
  });

  it('ends an answer with an empty text that is signed', async () => {
    expect(brief(JSON.parse((await stream('', 'say One two.')).text) as JsonObject[])).toEqual([
      ['One', false, undefined],
      [' two.', false, undefined],
      ['', true, 'STOP'],
    ]);
  });
});
