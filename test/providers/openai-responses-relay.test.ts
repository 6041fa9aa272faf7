import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, objectsOf } from '../../src/json.ts';
import { openAiResponses } from '../../src/providers/openai-responses.ts';
import {
  call,
  eventsOf,
  itemEvents,
  message,
  parseFrames,
  reasoning,
  relay,
  response,
  usage,
  visibility,
  wrapper,
} from './openai-responses-fixture.ts';

/** What the official SDK makes of a stream: the helper that folds its events, which refuses any that do not fit together. */
async function readBySdk(text: string) {
  const fetch = async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } });
  const client = new OpenAI({ apiKey: 'k', baseURL: 'http://sdk.test/v1', fetch, maxRetries: 0 });
  const stream = client.responses.stream({ model: 'gpt-5', input: 'go' });
  const types: string[] = [];
  stream.on('event', (event) => types.push(event.type));
  return { final: await stream.finalResponse(), types };
}

const typesOf = (events: JsonObject[]) => events.map(({ type }) => String(type).replace('response.', ''));
const itemsOf = (events: JsonObject[], type: string) =>
  events.flatMap((event) => (event.type === type && isJsonObject(event.item) ? [event.item] : []));
const expectNumbered = (events: JsonObject[]) =>
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, position) => position));

const round1 = response('1', [reasoning('1'), message('1', 'Let me see. '), call('h1', 'own_a', '{"x":1}')], {
  previous_response_id: 'resp_0',
});
const round2 = response('2', [call('h2', 'own_b'), reasoning('2')], { usage: usage(20), previous_response_id: 'resp_1' });
const round3 = response('3', [message('3', 'It is 4.')], { usage: usage(30), previous_response_id: 'resp_2' });
const rounds = [round1, round2, round3].map(eventsOf);

describe('the responses relay', () => {
  it('shows several rounds as one life cycle', () => {
    const { events, text, final } = relay(rounds);
    const part = ['content_part.added', 'output_text.delta', 'output_text.delta', 'output_text.done', 'content_part.done'];
    const item = (...inner: string[]) => ['output_item.added', ...inner, 'output_item.done'];
    expect(typesOf(events)).toEqual(['created', 'in_progress', ...item(), ...item(...part), ...item(), ...item(...part), 'completed']);
    expectNumbered(events);
    expect(itemsOf(events, 'response.output_item.added').map(({ id }) => id)).toEqual(['rs_1', 'msg_1', 'rs_2', 'msg_3_omrh']);
    expect(events.flatMap(({ output_index: index, type }) => (type === 'response.output_item.done' ? [index] : []))).toEqual([0, 1, 2, 3]);
    expect(text).not.toContain('own_');
    expect(text).not.toContain('[DONE]');
    expect(final).toMatchObject({ id: 'resp_3', status: 'completed', previous_response_id: 'resp_0' });
    expect(final.usage).toEqual({
      input_tokens: 60,
      input_tokens_details: { cached_tokens: 3 },
      output_tokens: 6,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 66,
    });
    expect(final.omniroute).toEqual({ rounds: 3, executions: [], usage_by_round: [usage(10), usage(20), usage(30)] });
  });

  it('says the same as a plain reply', () => {
    const { final, plain, responses } = relay(rounds);
    expect(responses).toEqual([round1, round2, round3]);
    expect(final).toEqual(plain);
  });

  it('is understood by the official SDK', async () => {
    const { text, plain } = relay(rounds);
    const { final, types } = await readBySdk(text);
    expect(final).toMatchObject({ id: 'resp_3', output: plain.output, usage: { total_tokens: 66 }, output_text: 'Let me see. It is 4.' });
    expect(types.at(-1)).toBe('response.completed');
  });

  it('names each event, and relays what it does not change byte for byte', () => {
    const created = '{"type":"response.created", "sequence_number":0,"response":{"id":"resp_1","odd":[1],"output":[]}}';
    const added =
      '{"type":"response.output_item.added","sequence_number":1,"output_index":0, "item":{"type":"message","id":"m","content":[]}}';
    const delta =
      '{"type":"response.output_text.delta","sequence_number":2,"output_index":0,"content_index":0,"delta":"é","obfuscation":"ab"}';
    const { text } = relay([[created, added, delta, { type: 'response.completed', sequence_number: 3, response: response('1', []) }]]);
    expect(text).toContain(`event: response.created\ndata: ${created}\n\nevent: response.output_item.added\ndata: ${added}\n\n`);
    expect(text).toContain(`event: response.output_text.delta\ndata: ${delta}\n\n`);
  });

  it('never breaks its frames on data of several lines or odd names', () => {
    const lines = JSON.stringify({ type: 'response.created', sequence_number: 0, response: { id: 'r', output: [] } }, null, 1);
    const odd = { type: 'x\ndata: {}', sequence_number: 1 };
    const { text } = relay([[lines, odd, { type: 'response.completed', response: response('1', []) }]]);
    expect(text.split('\n\n').map((frame) => frame.split('\n').length)).toEqual([2, 1, 2, 1]);
  });

  it('shows the response without tools that the client did not send, and with its own choice of tools', () => {
    const echo = (choice: string) => ({
      tools: [{ type: 'function', name: 'own_a' }, { type: 'function', name: 'theirs' }, { type: 'mcp' }],
      tool_choice: choice,
    });
    const { events, final } = relay(
      [
        { ...round1, ...echo('required') },
        { ...round3, ...echo('none') },
      ].map(eventsOf),
    );
    const expected = { tools: [{ type: 'function', name: 'theirs' }, { type: 'mcp' }], tool_choice: 'required' };
    expect(events[0]?.response).toMatchObject(expected);
    expect(events[1]?.response).toMatchObject(expected);
    expect(final).toMatchObject(expected);
  });

  it('relays calls of the client as they come, renumbered, and hides owned ones', async () => {
    const sql = { type: 'custom_tool_call', id: 'ct_1', call_id: 'c3', name: 'sql', input: 'SELECT 1', status: 'completed' };
    const body = response('1', [call('c1', 'theirs', '{"a":1}'), call('h1', 'own_a'), call('c2', 'theirs'), sql]);
    const { events, final, plain, text } = relay([eventsOf(body)]);
    const shown = [
      { ...call('c1', 'theirs', '{"a":1}'), call_id: 'c1?' },
      { ...call('c2', 'theirs'), call_id: 'c2!' },
      { ...sql, call_id: 'c3!' },
    ];
    expect(itemsOf(events, 'response.output_item.done')).toEqual(shown);
    expect(itemsOf(events, 'response.output_item.added').map(({ call_id: id }) => id)).toEqual(['c1?', 'c2!', 'c3!']);
    expect(events.flatMap(({ type, delta, output_index: index }) => (String(type).endsWith('.delta') ? [[index, delta]] : []))).toEqual([
      [0, '{"a'],
      [0, '":1}'],
      [1, '{'],
      [1, '}'],
      [2, 'SELE'],
      [2, 'CT 1'],
    ]);
    expect(final.output).toEqual(shown);
    expect(objectsOf(plain.output).map(({ call_id: id }) => id)).toEqual(['c1!', 'c2!', 'c3!']);
    expect((await readBySdk(text)).final.output).toMatchObject(shown);
    expectNumbered(events);
  });

  it('keeps the id of a call of the client even when something is hidden while it comes', () => {
    const [begin = {}, ...rest] = itemEvents(call('c1', 'theirs'), 0);
    const { events } = relay([[begin, ...itemEvents(call('h1', 'own_a'), 1), ...rest, ...eventsOf(response('1', [])).slice(-1)]]);
    const ids = events.flatMap(({ item }) => (isJsonObject(item) ? [item.call_id] : []));
    expect(ids).toEqual(['c1?', 'c1?']);
  });

  it.each(['web_search_call', 'mcp_call', 'shell_call', 'image_generation_call'])('relays the events of %s', (type) => {
    const item = {
      type,
      id: 'x_1',
      status: 'completed',
      ...(type === 'shell_call' && { environment: { type: 'container_reference' }, call_id: 's1' }),
    };
    const step = { type: `response.${type}.in_progress`, item_id: 'x_1', output_index: 1 };
    const [begin = {}, end = {}] = itemEvents(item, 1);
    const { events, final } = relay([[...itemEvents(call('h1', 'own_a'), 0), begin, step, end, ...eventsOf(response('1', [])).slice(-1)]]);
    expect(events.slice(1, 4).map(({ output_index: index }) => index)).toEqual([0, 0, 0]);
    expect(events[2]).toMatchObject({ type: step.type, item_id: 'x_1' });
    expect(final.output).toEqual([item]);
  });

  it('relays events that tell of no item', () => {
    const [created = {}, progress = {}, ...rest] = eventsOf(response('1', []));
    const { events } = relay([
      [created, { type: 'response.queued', response: {} }, progress, { type: 'keepalive', sequence_number: 9 }, ...rest],
    ]);
    expect(typesOf(events)).toEqual(['created', 'queued', 'in_progress', 'keepalive', 'completed']);
    expectNumbered(events);
  });
});

describe('streams of emulators', () => {
  const end = (items: JsonObject[] = []) => ({ type: 'response.completed', response: response('1', items) });
  it('may have no sequence numbers, and end with [DONE]', () => {
    const bare = rounds.map((events) => [...events.map(({ sequence_number: _, ...event }) => event), '[DONE]']);
    expect(relay(bare).text).toBe(relay(rounds).text);
  });

  it('may give an item another id in each event', () => {
    const ids = [...'abcdefgh'];
    const rotated = [...itemEvents(call('c1', 'theirs', '{"a":1}'), 0), ...itemEvents(call('h1', 'own_a', '{"b":2}'), 1)].map((event) => ({
      ...event,
      ...('item_id' in event && { item_id: `it_${ids.shift()}` }),
      ...(isJsonObject(event.item) && { item: { ...event.item, id: `it_${ids.shift()}` } }),
    }));
    const { responses, events, told } = relay([[...rotated, end()]]);
    expect(openAiResponses.readTurn(responses[0] ?? {}).calls.map(({ id, arguments: read }) => [id, read])).toEqual([
      ['c1', { readable: true, value: { a: 1 } }],
      ['h1', { readable: true, value: { b: 2 } }],
    ]);
    expect(events.every(({ output_index: index }) => index === undefined || index === 0)).toBe(true);
    expect(told.map(({ id }) => id)).toEqual(['h1']);
  });

  it('may leave the index out', () => {
    const events = eventsOf(round1).map(({ output_index: _, ...event }) => event);
    expect(relay([events]).final).toEqual(relay([eventsOf(round1)]).final);
  });

  it('may use an index again', () => {
    const events = eventsOf(round1).map((event) => ('output_index' in event ? { ...event, output_index: 0 } : event));
    expect(relay([events]).final).toEqual(relay([eventsOf(round1)]).final);
  });

  it('may begin without response.created', async () => {
    const { events, text } = relay([eventsOf(round1).slice(1), eventsOf(round3)]);
    expect(typesOf(events).slice(0, 2)).toEqual(['created', 'in_progress']);
    expect(events[0]?.response).toMatchObject({ id: 'resp_1', status: 'in_progress', output: [] });
    expect((await readBySdk(text)).final.id).toBe('resp_3');
  });

  it('may say created twice, begin an item twice, and go on after the end', () => {
    const [created = {}, progress = {}, added = {}, ...rest] = eventsOf(round3);
    const twice = [created, created, progress, added, added, ...rest, ...eventsOf(round1).slice(2)];
    expect(relay([twice]).text).toBe(relay([eventsOf(round3)]).text);
  });

  it('may list items at the end alone', async () => {
    const items = [message('1', 'hi'), call('h1', 'own_a', '{"x":1}'), call('c1', 'theirs', '{"y":2}')];
    const { events, final, text, responses } = relay([[...eventsOf(response('1', [])).slice(0, 2), end(items)]]);
    expect(typesOf(events)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ]);
    expect(responses[0]?.output).toEqual(items);
    expect(final.output).toEqual([message('1', 'hi'), { ...call('c1', 'theirs', '{"y":2}'), call_id: 'c1!' }]);
    expect((await readBySdk(text)).final.output).toMatchObject(objectsOf(final.output));
  });

  it('may list no items at the end', () => {
    const events = [...eventsOf(round1).slice(0, -1), { type: 'response.completed', response: { ...round1, output: [] } }];
    expect(relay([events]).final).toEqual(relay([eventsOf(round1)]).final);
  });

  it('may leave out that an item is done', () => {
    const events = eventsOf(round1).filter(({ type }) => type !== 'response.output_item.done');
    const {
      responses,
      final,
      events: shown,
    } = relay([[...events.slice(0, -1), { type: 'response.completed', response: { ...round1, output: [] } }]]);
    expect(openAiResponses.readTurn(responses[0] ?? {}).calls).toEqual(openAiResponses.readTurn(round1).calls);
    expect(objectsOf(final.output).map(({ content }) => content)).toEqual([undefined, objectsOf(objectsOf(round1.output)[1]?.content)]);
    expect(typesOf(shown).filter((type) => type === 'output_item.done')).toHaveLength(2);
  });

  it('may list other items at the end than they streamed', () => {
    const events = itemEvents(message('1', 'hi'), 0).slice(0, -1);
    const { responses } = relay([[...events, end([reasoning('9'), message('2', 'more')])]]);
    expect(objectsOf(responses[0]?.output).map(({ id }) => id)).toEqual(['msg_1', 'msg_2']);
  });

  it('may send events without a type, which nobody could understand', () => {
    expect(relay([[{ odd: 1 }, { type: 7 }, ...eventsOf(round3)]]).text).toBe(relay([eventsOf(round3)]).text);
  });

  it('may leave out that an item begins', async () => {
    const events = itemEvents(message('1', 'hi'), 0).slice(1);
    const { text, final } = relay([[...eventsOf(response('1', [])).slice(0, 1), ...events, end()]]);
    expect(final.output).toEqual([message('1', 'hi')]);
    expect((await readBySdk(text)).final.output_text).toBe('hi');
  });

  it('may name a call only when it is done, so that nothing of a hidden one comes out before', () => {
    const nameless = (item: JsonObject, index: number) =>
      itemEvents(item, index).map((event) =>
        event.type === 'response.output_item.added' && isJsonObject(event.item) ? { ...event, item: { ...event.item, name: '' } } : event,
      );
    const { final, text, told } = relay([
      [...nameless(call('h1', 'own_a', '{"x":1}'), 0), ...nameless(call('c1', 'theirs', '{"y":2}'), 1), end()],
    ]);
    expect(final.output).toEqual([{ ...call('c1', 'theirs', '{"y":2}'), call_id: 'c1!' }]);
    expect(text).not.toContain('h1');
    expect(told.map(({ id }) => id)).toEqual(['h1']);
  });

  it('may have calls without a call_id, and arguments that are objects', () => {
    const items = [
      { type: 'function_call', id: 'fc_1', name: 'theirs', arguments: { a: 1 } },
      { type: 'function_call', name: 'theirs' },
    ];
    const { final } = relay([[{ type: 'response.created', response: { id: 'resp_1' } }, end(items)]]);
    expect(objectsOf(final.output).map(({ call_id: id, arguments: text }) => [id, text])).toEqual([
      ['fc_1?', '{"a":1}'],
      ['call_resp_1_1?', ''],
    ]);
  });
});

describe('the wrapper "parallel" in a stream', () => {
  const stream = (...names: string[]) =>
    relay([
      eventsOf(
        response('1', [
          wrapper('w', ...names.map((name): [string, JsonObject] => [`functions.${name}`, { of: name }])),
          call('c9', 'theirs'),
        ]),
      ),
    ]);
  it('is hidden when all of its calls are, which are told of', () => {
    const { final, told, text } = stream('own_a', 'own_b');
    expect(objectsOf(final.output).map(({ call_id: id }) => id)).toEqual(['c9!']);
    expect(told.map(({ id, arguments: read }) => [id, read.readable && read.value])).toEqual([
      ['w_use0', { of: 'own_a' }],
      ['w_use1', { of: 'own_b' }],
    ]);
    expect(text).not.toContain('own_');
  });
  it('gives the client its own calls out of it', async () => {
    const { final, plain, text, told, events } = stream('own_a', 'theirs', 'more');
    expect(final.output).toEqual(plain.output);
    expect(objectsOf(final.output).map(({ call_id: id, name, arguments: args }) => [id, name, args])).toEqual([
      ['w_use1!', 'theirs', '{"of":"theirs"}'],
      ['w_use2!', 'more', '{"of":"more"}'],
      ['c9!', 'theirs', '{}'],
    ]);
    expect((await readBySdk(text)).final.output).toMatchObject(objectsOf(final.output));
    expect(told.map(({ id }) => id)).toEqual(['w_use0']);
    expectNumbered(events);
  });
  it('reaches the client as it came when it is all the client’s', () => {
    const { events, told } = stream('theirs', 'more');
    const expected = eventsOf(
      response('1', [wrapper('w', ['functions.theirs', { of: 'theirs' }], ['functions.more', { of: 'more' }])]),
    ).slice(2, -1);
    expect(typesOf(events.slice(2, 2 + expected.length))).toEqual(typesOf(expected));
    expect(events[2]).toMatchObject({ item: { name: 'parallel', call_id: 'w?', arguments: '' } });
    expect(told).toEqual([]);
  });
});

describe('calls that are ready', () => {
  it('are told of once their arguments are complete, before the item or the reply ends', () => {
    const told: string[] = [];
    const stream = openAiResponses.createRelay({}, visibility, ({ id, arguments: read }) => told.push(`${id} ${JSON.stringify(read)}`));
    const events = itemEvents(call('h1', 'own_a', '{"x":1}'), 0);
    const ready = events.findIndex(({ type }) => type === 'response.function_call_arguments.done');
    for (const event of events.slice(0, ready)) stream.push(JSON.stringify(event));
    expect(told).toEqual([]);
    stream.push(JSON.stringify(events[ready]));
    expect(told).toEqual(['h1 {"readable":true,"value":{"x":1}}']);
    for (const event of [...events.slice(ready + 1), ...itemEvents(call('c1', 'theirs'), 1)]) stream.push(JSON.stringify(event));
    expect(told).toHaveLength(1);
  });
  it('are none when they were cut', () => {
    const cut = call('h1', 'own_a', '{"x":', { status: 'incomplete' });
    const events = itemEvents(cut, 0).filter(({ type }) => type !== 'response.function_call_arguments.done');
    const { told, final } = relay([[...events, { type: 'response.incomplete', response: response('1', [cut], { status: 'incomplete' }) }]]);
    expect([told, final.status, final.output]).toEqual([[], 'incomplete', []]);
  });
});

describe('the end of a stream', () => {
  it.each(['completed', 'incomplete', 'failed'])('is %s as the provider says', (status) => {
    const body = response('1', [message('1', 'half')], {
      status,
      error: status === 'failed' ? { code: 'server_error', message: 'x' } : null,
    });
    const { events, final } = relay([eventsOf(body)]);
    expect(events.at(-1)?.type).toBe(`response.${status}`);
    expect(final).toMatchObject({ status, error: body.error, output: body.output });
  });

  it('says of no item that it is done when the reply broke off in it', () => {
    const events = itemEvents(call('c1', 'theirs', '{"a":1}'), 0).slice(0, 2);
    const { events: shown, final } = relay([[...events, { type: 'response.incomplete', response: { id: 'resp_1', output: [] } }]]);
    expect(typesOf(shown)).toEqual(['created', 'output_item.added', 'function_call_arguments.delta', 'incomplete']);
    expect(final).toMatchObject({ status: 'incomplete', output: [{ call_id: 'c1?', arguments: '{"a', status: 'in_progress' }] });
  });

  it('is an error when the provider’s is missing, whatever came before', () => {
    const events = eventsOf(round1);
    for (let count = 0; count < events.length; count += 1) {
      const stream = openAiResponses.createRelay({}, visibility);
      for (const event of events.slice(0, count)) stream.push(JSON.stringify(event));
      stream.push('[DONE]');
      expect(() => stream.endRound()).toThrow("The model provider's stream ended early");
    }
  });

  it.each<[string, string]>([
    ['<html>', 'The model provider sent an event that is not JSON'],
    ['[1]', 'The model provider sent an event that is not an object'],
    ['{"type":"error","code":"x","message":"overloaded","param":null}', 'overloaded'],
    ['{"error":{"message":"no quota","code":"insufficient_quota"}}', 'no quota'],
    ['{"type":"error"}', 'The model provider reported an error'],
  ])('is an error after %s', (data, text) => {
    expect(() => openAiResponses.createRelay({}, visibility).push(data)).toThrow(text);
  });

  it('after a failure before any event is created, then failed', async () => {
    const stream = openAiResponses.createRelay({ model: 'gpt-5' }, visibility);
    expect(() => stream.push('{"type":"error","code":"rate_limit_exceeded","message":"slow down"}')).toThrow('slow down');
    const text = stream.fail({ code: 'upstream_failed', message: 'slow down' });
    expect(parseFrames(text)).toEqual([
      {
        type: 'response.created',
        sequence_number: 0,
        response: { id: 'resp_unknown', object: 'response', created_at: 0, model: 'gpt-5', status: 'in_progress', output: [] },
      },
      {
        type: 'response.failed',
        sequence_number: 1,
        response: {
          id: 'resp_unknown',
          object: 'response',
          created_at: 0,
          model: 'gpt-5',
          status: 'failed',
          error: { code: 'rate_limit_exceeded', message: 'slow down' },
          output: [],
        },
      },
    ]);
    expect((await readBySdk(text)).final.status).toBe('failed');
  });

  it('after a failure in a later round is failed, with what the client has seen', () => {
    const stream = openAiResponses.createRelay({}, visibility);
    let text = '';
    for (const event of eventsOf(round1)) text += stream.push(JSON.stringify(event));
    text += stream.endRound().text;
    for (const event of eventsOf(round3).slice(0, 5)) text += stream.push(JSON.stringify(event));
    text += stream.fail({ code: 'upstream_timeout', message: 'silent' });
    const events = parseFrames(text);
    expectNumbered(events);
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: {
        id: 'resp_3',
        previous_response_id: 'resp_0',
        status: 'failed',
        error: { code: 'upstream_timeout', message: 'silent' },
        output: [{ id: 'rs_1' }, { id: 'msg_1' }, { id: 'msg_3', content: [{ text: 'It i' }] }],
      },
    });
  });
});
