import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { anthropic } from '../../src/providers/anthropic.ts';
import {
  call,
  close,
  delta,
  end,
  fold,
  json,
  message,
  open,
  ping,
  readFrames,
  redacted,
  relay,
  result,
  start,
  stop,
  streamOf,
  text,
  thinking,
  visibility,
  words,
} from './anthropic-events.ts';

const round1 = message([thinking('Hm.', 'sig-1'), text('Let me see. '), call('c1', 'own_a', { x: 1 })]);
const round2 = message([thinking('So.', 'sig-2'), redacted('blob'), text('It is 4.')], {
  id: 'msg_2',
  usage: { input_tokens: 20, cache_read_input_tokens: 3, output_tokens: 7 },
});
const seen = [
  thinking('Hm.', 'sig-1'),
  text('Let me see. '),
  thinking('So.', 'sig-2#omniroute'),
  redacted('blob#omniroute'),
  text('It is 4.'),
];

describe('the relay', () => {
  it('shows two rounds as one message', () => {
    const { message: body, names, sent, frames } = relay([streamOf(round1), streamOf(round2)]);
    expect(body).toEqual({
      ...message(seen, { usage: { input_tokens: 30, cache_read_input_tokens: 3, output_tokens: 12 } }),
      omniroute: { rounds: 2, executions: [], usage_by_round: [round1.usage, round2.usage] },
    });
    for (const once of ['message_start', 'message_delta', 'message_stop']) expect(names.filter((name) => name === once)).toHaveLength(1);
    expect(names.slice(-2)).toEqual(['message_delta', 'message_stop']);
    expect(sent).not.toContain('own_a');
    expect(sent).not.toContain('msg_2');
    expect(frames.filter(({ name }) => name === 'content_block_start').map(({ data }) => data.index)).toEqual([0, 1, 2, 3, 4]);
  });

  it('says the same as a plain reply', () => {
    const { message: body, plain } = relay([streamOf(round1), streamOf(round2)]);
    expect(body).toEqual(plain);
  });

  it('gives back what a plain call would have given', () => {
    expect(relay([streamOf(round1), streamOf(round2)]).responses).toEqual([round1, round2]);
  });

  it('relays what it does not change byte for byte, with the name of the event', () => {
    const odd = '{"type":"content_block_delta", "index":0,"delta":{"type":"text_delta","text":"é"},"odd":[1]}';
    const first = JSON.stringify({ ...start(), more: 1 });
    const { sent } = relay([[first, open(0, text('')), odd, close(0), ping, end('end_turn'), stop]]);
    expect(sent).toContain(`event: message_start\ndata: ${first}\n\n`);
    expect(sent).toContain(`event: content_block_delta\ndata: ${odd}\n\n`);
    expect(sent).toContain('event: ping\ndata: {"type":"ping"}\n\n');
  });

  it('puts an event with line breaks on one line', () => {
    const { sent } = relay([[JSON.stringify(start(), null, 1), end('end_turn'), stop]]);
    expect(sent).toContain(`event: message_start\ndata: ${JSON.stringify(start())}\n\n`);
  });

  it('lets pings through at any time, before the start and while a call is held back too', () => {
    const { names } = relay([
      [ping, start(), open(0, call('c1', 'own_a')), ping, json(0, '{}'), ping, close(0), ping, end('tool_use'), stop, ping],
    ]);
    expect(names).toEqual(['ping', 'message_start', 'ping', 'ping', 'ping', 'ping', 'message_delta', 'message_stop']);
    expect(anthropic.keepalive).toBe('event: ping\ndata: {"type":"ping"}\n\n');
  });

  it('relays calls of the client as they come, renumbered, and hides owned ones', () => {
    const mixed = message([call('c1', 'own_a', { a: 1 }), call('c2', 'theirs', { b: 2 }), call('c3', 'own_b'), call('c4', 'theirs')]);
    const { frames, message: body, responses } = relay([streamOf(mixed)]);
    expect(body.content).toEqual([call('c2!', 'theirs', { b: 2 }), call('c4!', 'theirs')]);
    expect(body.stop_reason).toBe('tool_use');
    expect(frames.filter(({ data }) => data.index === 0).map(({ name }) => name)).toEqual([
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
    ]);
    expect(responses[0]?.content).toEqual(mixed.content);
  });

  it('marks a call of the client that goes out before anything is hidden as provisional, and thinking not at all', () => {
    const { message: body } = relay([streamOf(message([thinking('Hm.', 'sig'), call('c1', 'theirs'), call('c2', 'own_a')]))]);
    expect(body.content).toEqual([thinking('Hm.', 'sig'), call('c1?', 'theirs')]);
  });

  it('sends each event as soon as it comes', () => {
    const stream = anthropic.createRelay({}, visibility);
    expect(stream.push(JSON.stringify(start()))).not.toBe('');
    stream.push(JSON.stringify(open(0, text(''))));
    expect(readFrames(stream.push(JSON.stringify(words(0, 'It'))))).toHaveLength(2);
    expect(readFrames(stream.push(JSON.stringify(words(0, ' is'))))).toHaveLength(1);
    stream.push(JSON.stringify(open(1, call('c1', 'own_a'))));
    expect(stream.push(JSON.stringify(json(1, '{}')))).toBe('');
    expect(readFrames(stream.push(JSON.stringify(close(0))))).toHaveLength(1);
  });

  it('shows no text that says nothing', () => {
    const body = message([text(''), call('c1', 'own_a')]);
    const { message: shown, plain } = relay([streamOf(body), streamOf(message([text(''), text('Done.')]))]);
    expect(shown.content).toEqual([text('Done.')]);
    expect(plain).toEqual(shown);
  });

  it('keeps citations, and fields and deltas that it does not know', () => {
    const cited = [{ type: 'char_location', cited_text: 'x' }];
    const { message: body, responses } = relay([
      [
        start(),
        open(0, { ...text(''), citations: [] }),
        delta(0, { type: 'citations_delta', citation: cited[0] as JsonObject }),
        words(0, 'x'),
        close(0),
        open(1, { type: 'compaction', content: null }),
        delta(1, { type: 'compaction_delta', content: 'short', encrypted_content: 'e' }),
        close(1),
        end('end_turn', { container: { id: 'k' } }),
        stop,
      ],
    ]);
    expect(body.content).toMatchObject([{ ...text('x'), citations: cited }, { type: 'compaction' }]);
    expect(responses[0]).toMatchObject({
      content: [
        { ...text('x'), citations: cited },
        { type: 'compaction', content: 'short', encrypted_content: 'e' },
      ],
      container: { id: 'k' },
    });
    expect(body.container).toEqual({ id: 'k' });
  });

  it('lets events of other kinds through, unless they tell of a hidden block', () => {
    const note = { type: 'new_event', more: 1 };
    const about = (index: number) => ({ type: 'content_block_note', index });
    const { frames, names } = relay([
      [
        start(),
        note,
        { type: 'bad\nname' },
        open(0, call('c1', 'own_a')),
        about(0),
        close(0),
        open(1, call('c2', 'theirs')),
        about(1),
        end('tool_use'),
        stop,
      ],
    ]);
    expect(frames.filter(({ name }) => name === 'new_event' || name === 'content_block_note').map(({ data }) => data)).toEqual([
      note,
      about(0),
    ]);
    expect(names).not.toContain('bad');
  });
});

describe('usage', () => {
  it('is the last count within a round and a sum over rounds', () => {
    const first = [start({ usage: { input_tokens: 10, cache_creation_input_tokens: null, output_tokens: 1, service_tier: 'standard' } })];
    const counts = [
      end(null, {}, { output_tokens: 4 }),
      end('tool_use', {}, { input_tokens: null, output_tokens: 9, server_tool_use: { web_search_requests: 1 } }),
    ];
    const { message: body, responses } = relay([
      [...first, open(0, call('c1', 'own_a')), close(0), ...counts, stop],
      [
        start({ usage: { input_tokens: 30, output_tokens: 1 } }),
        end('end_turn', {}, { output_tokens: 2, server_tool_use: { web_search_requests: 2 } }),
        stop,
      ],
    ]);
    expect(responses[0]?.usage).toEqual({
      input_tokens: 10,
      cache_creation_input_tokens: null,
      output_tokens: 9,
      service_tier: 'standard',
      server_tool_use: { web_search_requests: 1 },
    });
    expect(body.usage).toMatchObject({ input_tokens: 40, output_tokens: 11, server_tool_use: { web_search_requests: 3 } });
  });

  it('is there even if the provider tells none, since clients read it', () => {
    const { frames } = relay([[{ type: 'message_start', message: { id: 'm', content: [] } }, { type: 'message_delta', delta: {} }, stop]]);
    expect(frames.at(-2)?.data).toEqual({
      type: 'message_delta',
      delta: { stop_reason: null, stop_sequence: null },
      usage: { output_tokens: 0 },
    });
  });
});

describe('the reason to stop', () => {
  it.each([
    ['tool_use', [call('c1', 'own_a')], 'end_turn'],
    ['tool_use', [call('c1', 'own_a'), call('c2', 'theirs')], 'tool_use'],
    ['end_turn', [call('c2', 'theirs')], 'tool_use'],
    ['end_turn', [text('x')], 'end_turn'],
    ['max_tokens', [call('c2', 'theirs')], 'max_tokens'],
    ['max_tokens', [call('c1', 'own_a')], 'max_tokens'],
    ['refusal', [text('x')], 'refusal'],
    ['pause_turn', [text('x')], 'pause_turn'],
    ['model_context_window_exceeded', [text('x')], 'model_context_window_exceeded'],
  ])('%s of %j becomes %s', (reason, content, expected) => {
    const { message: body, plain } = relay([streamOf(message(content, { stop_reason: reason }))]);
    expect(body.stop_reason).toBe(expected);
    expect(plain.stop_reason).toBe(expected);
  });

  it('keeps its sequence and its details', () => {
    const details = { type: 'refusal', category: 'cyber' };
    const { frames } = relay([
      [start(), { ...end('stop_sequence', { stop_sequence: 'END', stop_details: details }), context_management: null }, stop],
    ]);
    expect(frames.at(-2)?.data).toMatchObject({
      delta: { stop_reason: 'stop_sequence', stop_sequence: 'END', stop_details: details },
      context_management: null,
    });
  });
});

describe('calls in streams', () => {
  const of = (...events: JsonObject[]) => relay([[start(), ...events, end('tool_use'), stop]]);
  it.each<[string, JsonObject[], unknown]>([
    ['no delta at all', [open(0, call('c1', 'own_a')), close(0)], { readable: true, value: {} }],
    ['one empty delta', [open(0, call('c1', 'own_a')), json(0, ''), close(0)], { readable: true, value: {} }],
    ['the whole input in its start', [open(0, call('c1', 'own_a', { x: 1 })), close(0)], { readable: true, value: { x: 1 } }],
    [
      'an input in pieces',
      [open(0, call('c1', 'own_a')), json(0, '{"x"'), ping, json(0, ':1}'), close(0)],
      { readable: true, value: { x: 1 } },
    ],
    ['no stop', [open(0, call('c1', 'own_a')), json(0, '{"x":1}')], { readable: true, value: { x: 1 } }],
    [
      'an input that is not JSON',
      [open(0, call('c1', 'own_a')), json(0, '{"x":'), close(0)],
      { readable: false, error: expect.stringContaining('not valid JSON') },
    ],
    [
      'an input that is no object',
      [open(0, call('c1', 'own_a')), json(0, '[1]'), close(0)],
      { readable: false, error: 'The arguments are not a JSON object' },
    ],
  ])('understands %s', (_, events, expected) => {
    const { responses, ready, names } = of(...events);
    expect(anthropic.readTurn(responses[0] ?? {}).calls).toEqual([{ id: 'c1', name: 'own_a', arguments: expected }]);
    expect(ready).toEqual([{ id: 'c1', name: 'own_a', arguments: expected }]);
    expect(names).not.toContain('content_block_start');
  });

  it('gives the client the whole input in the start as it came, and its invalid JSON too', () => {
    const { frames } = of(open(0, call('c1', 'theirs', { x: 1 })), close(0), open(1, call('c2', 'theirs')), json(1, '{"x":'), close(1));
    expect(frames.filter(({ data }) => 'index' in data).map(({ data }) => data)).toEqual([
      open(0, call('c1?', 'theirs', { x: 1 })),
      close(0),
      open(1, call('c2?', 'theirs')),
      json(1, '{"x":'),
      close(1),
    ]);
  });

  it('understands calls that are there from the start of the message, without any other event', () => {
    const content = [call('c1', 'own_a', { x: 1 }), call('c2', 'theirs', { y: 2 })];
    const {
      message: body,
      responses,
      ready,
    } = relay([
      streamOf(message([call('c0', 'own_a')])),
      [{ type: 'message_start', message: message(content, { usage: { input_tokens: 0, output_tokens: 0 } }) }, stop],
    ]);
    expect(responses[1]?.content).toEqual(content);
    expect(body).toMatchObject({ content: [call('c2!', 'theirs', { y: 2 })], stop_reason: 'tool_use' });
    expect(ready.map(({ id }) => id)).toEqual(['c0', 'c1']);
  });

  it('shows blocks of the first start as blocks of their own', () => {
    const { frames, message: body } = relay([[{ type: 'message_start', message: message([text('Hi'), call('c1', 'own_a')]) }, stop]]);
    expect(frames[0]?.data).toMatchObject({ message: { content: [], stop_reason: null } });
    expect(body).toMatchObject({ content: [text('Hi')], stop_reason: 'end_turn' });
  });

  it('tells of each hidden call once, before the reply ends', () => {
    const told: string[] = [];
    const stream = anthropic.createRelay({}, visibility, ({ id }) => told.push(id));
    const push = (...events: JsonObject[]) => {
      for (const event of events) stream.push(JSON.stringify(event));
    };
    push(start(), open(0, call('c1', 'own_a')), json(0, '{"x":1}'));
    expect(told).toEqual([]);
    push(close(0));
    expect(told).toEqual(['c1']);
    push(open(1, call('c2', 'theirs')), close(1), open(2, call('c3', 'own_b')), close(2), close(2));
    expect(told).toEqual(['c1', 'c3']);
    push(end('tool_use'), stop);
    expect(told).toEqual(['c1', 'c3']);
  });

  it('refuses a delta of a block that never began', () => {
    expect(() => relay([[start(), words(0, 'lost'), end('end_turn'), stop]])).toThrow('without its content_block_start');
  });

  it('ignores deltas of blocks that have ended, and what follows the end', () => {
    const { responses, message: body } = relay([
      [start(), open(0, text('')), words(0, 'a'), close(0), words(0, 'b'), end('end_turn'), stop, open(1, text('x')), start()],
    ]);
    expect(responses[0]?.content).toEqual([text('a')]);
    expect(body.content).toEqual([text('a')]);
  });

  it('understands an index that is used again, and the end of imitations', () => {
    const { message: body } = relay([
      [start(), open(0, text('')), words(0, 'a'), open(0, text('')), words(0, 'b'), end('end_turn'), stop, '[DONE]'],
    ]);
    expect(body.content).toEqual([text('a'), text('b')]);
  });
});

describe('a second message_start in one stream', () => {
  const again = (...first: JsonObject[]) =>
    relay([[start({ id: 'msg_first' }), ...first, ...streamOf(message([thinking('New.', 'sig-2'), call('c2', 'own_a', { x: 2 })]))]]);

  it('makes no difference when nothing came before it', () => {
    const { message: body, names } = again();
    expect(body.content).toEqual([thinking('New.', 'sig-2')]);
    expect(names.filter((name) => name === 'message_start')).toHaveLength(1);
  });

  it('discards the half call of the first one, which never runs', () => {
    const { responses, ready, message: body } = again(open(0, call('c1', 'own_a')), json(0, '{"x":'));
    expect(anthropic.readTurn(responses[0] ?? {}).calls.map(({ id }) => id)).toEqual(['c2']);
    expect(ready.map(({ id }) => id)).toEqual(['c2']);
    expect(body.content).toEqual([thinking('New.', 'sig-2')]);
  });

  it('forgets a call that is hidden no more', () => {
    const { message: body } = relay([[start(), open(0, call('c1', 'own_a')), close(0), ...streamOf(message([call('c2', 'theirs')]))]]);
    expect(body.content).toEqual([call('c2?', 'theirs')]);
  });

  it('ends what the client has seen of the first one, and marks thinking that has lost its place', () => {
    const { message: body, responses } = again(
      open(0, thinking('', '')),
      delta(0, { type: 'thinking_delta', thinking: 'Old' }),
      open(1, text('')),
      words(1, 'Half a'),
    );
    expect(body.content).toEqual([thinking('Old', '#omniroute'), text('Half a'), thinking('New.', 'sig-2#omniroute')]);
    expect(responses[0]?.content).toEqual([thinking('New.', 'sig-2'), call('c2', 'own_a', { x: 2 })]);
  });

  it('fails when the client has seen a call of the first one, which cannot be taken back', () => {
    expect(() => again(open(0, call('c1', 'theirs')), json(0, '{"x":'))).toThrow(
      'The model provider began its reply anew after it had called a tool',
    );
  });
});

describe('inline results', () => {
  it('stand behind the calls, plain and streamed', () => {
    const all = { isHidden: () => false, clientCallId: (id: string) => id };
    const body = message([text('Let me see.'), call('c1', 'own_a', { x: 1 }), call('c2', 'theirs')]);
    const { message: streamed, plain } = relay([streamOf(body)], [result('c1'), result('c3', true)], all);
    expect(plain.content).toEqual([
      ...(body.content as JsonObject[]),
      { type: 'tool_result', tool_use_id: 'c1', content: '{"of":"c1"}' },
      { type: 'tool_result', tool_use_id: 'c3', content: '{"of":"c3"}', is_error: true },
    ]);
    expect(streamed).toEqual(plain);
    expect(plain.stop_reason).toBe('tool_use');
  });
});

describe('failures', () => {
  const pushAll = (...events: (JsonObject | string)[]) => {
    const stream = anthropic.createRelay({}, visibility);
    for (const event of events) stream.push(typeof event === 'string' ? event : JSON.stringify(event));
    return stream;
  };

  it.each<[string, JsonObject[]]>([
    ['nothing', []],
    ['a ping', [ping]],
    ['half a text', [start(), open(0, text('')), words(0, 'half')]],
    ['everything but message_stop', [start(), open(0, text('')), words(0, 'x'), close(0), end('end_turn')]],
  ])('a stream that ends after %s is not a reply', (_, events) => {
    expect(() => pushAll(...events).endRound()).toThrow("The model provider's stream ended early");
  });

  it('a second round that ends early is none either', () => {
    const stream = pushAll(...streamOf(round1));
    stream.endRound();
    expect(() => stream.endRound()).toThrow("The model provider's stream ended early");
  });

  it.each<[JsonObject | string, string]>([
    ['<html>', 'The model provider sent an event that is not JSON'],
    ['[1]', 'The model provider sent an event that is not an object'],
    [words(0, 'x'), 'The model provider sent a stream that does not begin with message_start'],
    [{ type: 'message_stop' }, 'The model provider sent a stream that does not begin with message_start'],
    [{ type: 'message_start' }, 'The model provider sent a message_start without a message'],
    [{ type: 'error' }, 'The model provider reported an error'],
    [{ error: { message: 'no quota' } }, 'no quota'],
  ])('refuses %j: %s', (event, error) => {
    expect(() => pushAll(event)).toThrow(error);
  });

  it('refuses a block that is none', () => {
    expect(() => pushAll(start(), { type: 'content_block_start', index: 0 })).toThrow(
      'The model provider sent a content_block_start without a block',
    );
  });

  it("reports the provider's own error by its own name", () => {
    const stream = pushAll(start(), open(0, text('')), words(0, 'half'));
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    expect(() => stream.push(JSON.stringify(overloaded))).toThrow('Overloaded');
    expect(stream.fail({ code: 'upstream_failed', message: 'Overloaded' })).toBe(`event: error\ndata: ${JSON.stringify(overloaded)}\n\n`);
  });

  it.each([
    ['upstream_failed', 'api_error'],
    ['upstream_incomplete', 'api_error'],
    ['upstream_timeout', 'timeout_error'],
    ['internal_error', 'api_error'],
    ['something_else', 'api_error'],
  ])('%s is a %s', (code, type) => {
    expect(readFrames(pushAll().fail({ code, message: 'No.' }))).toEqual([
      { name: 'error', data: { type: 'error', error: { type, message: 'No.' } } },
    ]);
  });

  it('leave a stream that no client takes for a whole one', () => {
    const stream = anthropic.createRelay({}, visibility);
    const sent = stream.push(JSON.stringify(start())) + stream.fail({ code: 'internal_error', message: 'No.' });
    expect(() => fold(readFrames(sent))).toThrow('no message_stop');
  });
});
