import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { anthropic } from '../../src/providers/anthropic.ts';
import { call, message, redacted, relay, result, streamOf, text, thinking, visibility } from './anthropic-events.ts';

const user = (...content: JsonObject[]): JsonObject => ({ role: 'user', content });
const assistant = (...content: JsonObject[]): JsonObject => ({ role: 'assistant', content });
const answer = (id: string, content = `of ${id}`): JsonObject => ({ type: 'tool_result', tool_use_id: id, content });
const hiddenAnswer = (id: string): JsonObject => answer(id, `{"of":"${id}"}`);
const go = { role: 'user', content: 'go' };
const original: JsonObject = { model: 'm', messages: [go], tools: [{ name: 'theirs' }] };
const marked = (id: string): string => `${id}_T`;
const unmark = (id: string, transcript?: JsonObject) =>
  id.endsWith('_T') ? { id: id.slice(0, -2), ...(transcript && { transcript }) } : undefined;

describe('a mixed turn', () => {
  const hiddenRound = message([thinking('First.', 'sig-1'), text('One moment. '), call('h1', 'own_a', { x: 1 })]);
  const mixed = message([
    thinking('Both.', 'sig-2'),
    redacted('blob'),
    text('Now both.'),
    call('c1', 'theirs', { a: 1 }),
    thinking('And again.', 'sig-3'),
    call('h2', 'own_a'),
    call('c2', 'theirs'),
  ]);
  const second = anthropic.appendToolResults(original, hiddenRound, [result('h1')]);
  const transcript = anthropic.suspendTurn(original, second, mixed, [result('h2', true)]) as JsonObject;
  const restored = [
    assistant(...(hiddenRound.content as JsonObject[])),
    user(hiddenAnswer('h1')),
    assistant(...(mixed.content as JsonObject[])),
    user(answer('c1'), { ...hiddenAnswer('h2'), is_error: true }, answer('c2'), text('and now?')),
  ];
  const shown = anthropic.composeReply(
    { responses: [hiddenRound, mixed], report: { rounds: 2, executions: [], usageByRound: [] }, inlineResults: [] },
    { ...visibility, clientCallId: marked },
  );
  const restore = (...messages: JsonObject[]) => {
    const request = { ...original, messages };
    const cleaned = anthropic.removeInlineResults(request);
    return anthropic.restoreTurns(cleaned, (id) => unmark(id, transcript)).messages;
  };
  const echo = assistant(...(shown.content as JsonObject[]));

  it('is shown without its hidden calls', () => {
    expect(shown.content).toEqual([
      thinking('First.', 'sig-1'),
      text('One moment. '),
      thinking('Both.', 'sig-2#omniroute'),
      redacted('blob#omniroute'),
      text('Now both.'),
      call('c1_T', 'theirs', { a: 1 }),
      thinking('And again.', 'sig-3#omniroute'),
      call('c2_T', 'theirs'),
    ]);
    expect(anthropic.historyCallIds({ messages: [go, echo] })).toEqual(['c1_T', 'c2_T']);
  });

  it('comes back whole: thinking in its place, all results in one message, in call order and before text', () => {
    const answers = user(text('and now?'), answer('c2_T', 'of c2'), answer('c1_T', 'of c1'));
    expect(restore(go, echo, answers, { role: 'user', content: 'next' })).toEqual([go, ...restored, { role: 'user', content: 'next' }]);
  });

  it('comes back whole from a client that sends one message per result', () => {
    const answers = [user(answer('c1_T', 'of c1')), user(answer('c2_T', 'of c2'), text('and now?'))];
    expect(restore(go, echo, ...answers)).toEqual([go, ...restored]);
  });

  it('keeps fields of results that it does not know', () => {
    const cached = { ...answer('c1_T', 'of c1'), cache_control: { type: 'ephemeral' } };
    expect((restore(go, echo, user(cached)) as JsonObject[]).at(-1)).toEqual(
      user({ ...answer('c1'), cache_control: { type: 'ephemeral' } }, { ...hiddenAnswer('h2'), is_error: true }),
    );
  });

  it('comes back with what is known when the client sends no results', () => {
    expect(restore(go, echo)).toEqual([go, ...restored.slice(0, 3), user({ ...hiddenAnswer('h2'), is_error: true })]);
    expect(restore(go, echo, { role: 'user', content: 'never mind' })).toEqual([
      go,
      ...restored.slice(0, 3),
      user({ ...hiddenAnswer('h2'), is_error: true }),
      { role: 'user', content: 'never mind' },
    ]);
  });

  it('comes back beside another one, each in its place', () => {
    const other = anthropic.suspendTurn(original, original, message([call('h9', 'own_a'), call('c9', 'theirs')]), [
      result('h9'),
    ]) as JsonObject;
    const messages = [
      go,
      echo,
      user(answer('c1_T', 'of c1'), answer('c2_T', 'of c2')),
      assistant(call('c9_U', 'theirs')),
      user(answer('c9_U', 'of c9')),
    ];
    const turnOf = (id: string) => (id === 'c9_U' ? { id: 'c9', transcript: other } : unmark(id, transcript));
    expect((anthropic.restoreTurns({ ...original, messages }, turnOf).messages as JsonObject[]).slice(-2)).toEqual([
      assistant(call('h9', 'own_a'), call('c9', 'theirs')),
      user(hiddenAnswer('h9'), answer('c9')),
    ]);
  });

  it('without a transcript only loses its markers', () => {
    const request = { ...original, messages: [go, assistant(text('x'), call('c1_T', 'theirs')), user(answer('c1_T', 'r'), text('y'))] };
    expect(JSON.stringify(anthropic.restoreTurns(request, (id) => unmark(id)))).toBe(JSON.stringify(request).replaceAll('_T', ''));
  });

  it('is kept without empty texts and with half inputs inside of an object', () => {
    const half = message([text(''), call('h1', 'own_a', '{"x":'), call('c1', 'theirs')]);
    expect(anthropic.suspendTurn(original, original, half, [])).toEqual({
      messages: [assistant(call('h1', 'own_a', { INVALID_JSON: '{"x":' }), call('c1', 'theirs'))],
      results: [],
    });
  });

  it('is the same whether it was streamed or not', () => {
    const { responses } = relay([streamOf(hiddenRound), streamOf(mixed)]);
    const streamed = anthropic.appendToolResults(original, responses[0] ?? {}, [result('h1')]);
    expect(anthropic.suspendTurn(original, streamed, responses[1] ?? {}, [result('h2', true)])).toEqual(transcript);
  });
});

describe('removeInlineResults', () => {
  const history = (...messages: JsonObject[]): JsonObject => ({ ...original, messages });

  it('returns the same object when there is nothing to take out', () => {
    for (const request of [
      history(go),
      history(go, { role: 'assistant', content: 'Hi' }, user(text(''))),
      history(go, assistant(thinking('Hm.', 'sig'), call('c1', 'gone')), user(answer('c1'))),
      history(go, assistant(thinking('Hm.', 'sig'), text('Hi')), go),
      history(go, assistant(call('c1', 'theirs'))),
      history(go, assistant({ ...call('c1', 'click'), toolset_name: 'browser' })),
    ]) {
      expect(anthropic.removeInlineResults(request)).toBe(request);
    }
  });

  it('takes out results, their calls and the thinking that led to them', () => {
    const inline = assistant(thinking('Hm.', 'sig'), text('Let me see.'), call('c1', 'own_a'), answer('c1'));
    expect(anthropic.removeInlineResults(history(go, inline, go))).toEqual(history(go, assistant(text('Let me see.')), go));
  });

  it('leaves the calls of the client with their thinking', () => {
    const inline = assistant(thinking('Hm.', 'sig'), call('c1', 'own_a'), text(''), call('c2', 'theirs'), answer('c1'));
    expect(anthropic.removeInlineResults(history(go, inline, user(answer('c2'))))).toEqual(
      history(go, assistant(thinking('Hm.', 'sig'), call('c2', 'theirs')), user(answer('c2'))),
    );
  });

  it('takes out a message of which nothing is left, and calls whose results the client has lost', () => {
    expect(anthropic.removeInlineResults(history(go, assistant(thinking('Hm.', 'sig'), call('c1', 'own_a'), answer('c1')), go))).toEqual(
      history(go, go),
    );
    expect(anthropic.removeInlineResults(history(go, assistant(text('x'), call('c1', 'own_a')), go))).toEqual(
      history(go, assistant(text('x')), go),
    );
  });

  it('takes thinking from behind hidden calls out of an answer, and that before them, since the calls are not there', () => {
    const { message: body } = relay([
      streamOf(message([thinking('Hm.', 'sig-1'), text('One moment. '), call('h1', 'own_a')])),
      streamOf(message([thinking('So.', 'sig-2'), redacted('blob'), text('Done.')])),
    ]);
    expect(anthropic.removeInlineResults(history(go, assistant(...(body.content as JsonObject[])), go))).toEqual(
      history(go, assistant(text('One moment. '), text('Done.')), go),
    );
  });

  it('gives thinking beside a call of the client its signature back when the provider had begun anew', () => {
    const { message: body } = relay([
      [
        ...streamOf(message([thinking('Old.', 'sig-1')])).slice(0, -2),
        ...streamOf(message([thinking('New.', 'sig-2'), redacted('blob'), call('c1', 'theirs')])),
      ],
    ]);
    const ids = user(answer('c1?'));
    expect(anthropic.removeInlineResults(history(go, assistant(...(body.content as JsonObject[])), ids))).toEqual(
      history(go, assistant(thinking('New.', 'sig-2'), redacted('blob'), call('c1?', 'theirs')), ids),
    );
  });

  it('does not touch thinking without a signature', () => {
    const { message: body } = relay([streamOf(message([call('h1', 'own_a')])), streamOf(message([thinking('So.', ''), text('Done.')]))]);
    expect(body.content).toEqual([thinking('So.', ''), text('Done.')]);
    const echoed = history(go, assistant(...(body.content as JsonObject[])), go);
    expect(anthropic.removeInlineResults(echoed)).toBe(echoed);
  });
});
