import { describe, expect, it } from 'vitest';
import { createLoopBounds } from '../../src/gateway/loop-bounds.ts';
import { runToolLoop } from '../../src/gateway/tool-loop.ts';
import type { JsonObject } from '../../src/json.ts';
import { openAiResponses } from '../../src/providers/openai-responses.ts';
import { DEFAULT_SETTINGS } from '../../src/settings.ts';
import { call, eventsOf, message, output, reasoning, relay, response, result, user, wrapper } from './openai-responses-fixture.ts';

const turn = [reasoning('1'), call('c1', 'own_a')];
const answer = { type: 'function_call_output', call_id: 'c1', output: '{"of":"c1"}' };
const request: JsonObject = {
  model: 'gpt-5',
  input: [user('go')],
  instructions: 'Be brief.',
  tools: [{ type: 'function', name: 'own_a' }],
  text: { format: { type: 'text' } },
  reasoning: { effort: 'low' },
  metadata: { a: 'b' },
};
const next = (fields: JsonObject = {}, body = response('1', turn)) =>
  openAiResponses.appendToolResults({ ...request, ...fields }, body, [result('c1')]);

describe('the request of the next round', () => {
  it('refers to a reply that the provider keeps, and sends nothing but the new outputs', () => {
    expect(next()).toEqual({ ...request, previous_response_id: 'resp_1', input: [answer] });
    expect(next({ store: true })).toEqual({ ...request, store: true, previous_response_id: 'resp_1', input: [answer] });
  });
  it('replaces the reply that the request itself continued', () => {
    expect(next({ previous_response_id: 'resp_0' })).toEqual({ ...request, previous_response_id: 'resp_1', input: [answer] });
  });
  it('leaves it to a conversation to know the reply', () => {
    expect(next({ conversation: { id: 'conv_1' } })).toEqual({ ...request, conversation: { id: 'conv_1' }, input: [answer] });
  });
  it('adds the items with store:false, reasoning before its call', () => {
    expect(next({ store: false })).toEqual({ ...request, store: false, input: [user('go'), ...turn, answer] });
  });
  it('keeps the reply that a request with store:false continues', () => {
    const fields = { store: false, previous_response_id: 'resp_0' };
    expect(next(fields)).toEqual({ ...request, ...fields, input: [user('go'), ...turn, answer] });
  });
  it('adds the items when the reply says that it was not kept, or has no id', () => {
    const items = [user('go'), ...turn, answer];
    expect(next({}, response('1', turn, { store: false }))).toEqual({ ...request, input: items });
    const { id: _, ...nameless } = response('1', turn);
    expect(next({}, nameless)).toEqual({ ...request, input: items });
  });
  it('makes items of an input that is a string', () => {
    expect(next({ store: false, input: 'go' }).input).toEqual([{ type: 'message', role: 'user', content: 'go' }, ...turn, answer]);
  });
  it.each<[string, JsonObject, boolean]>([
    ['an id alone', reasoning('1', {}), false],
    ['an id and a summary', reasoning('1', { summary: [{ type: 'summary_text', text: 'x' }], encrypted_content: null }), false],
    ['encrypted content', reasoning('1'), true],
    ['its text', reasoning('1', { content: [{ type: 'reasoning_text', text: 'x' }] }), true],
  ])('sends reasoning with %s where nothing is kept: %#', (_, item, isSent) => {
    const { input } = next({ store: false }, response('1', [item, call('c1', 'own_a')]));
    expect(input).toEqual([user('go'), ...(isSent ? [item] : []), call('c1', 'own_a'), answer]);
  });
  it('sends fields and items back that it does not know', () => {
    const items = [
      message('1', 'hm', { phase: 'commentary' }),
      { type: 'program', id: 'pr_1', call_id: 'p1', code: 'x', fingerprint: 'f' },
      call('c1', 'own_a', '{}', { caller: { type: 'program', caller_id: 'p1' }, odd: [1] }),
    ];
    expect(next({ store: false }, response('1', items)).input).toEqual([
      user('go'),
      ...items,
      { ...answer, caller: { type: 'program', caller_id: 'p1' } },
    ]);
  });
  it('answers every call once, in call order', () => {
    const body = response('1', [call('c1', 'own_a'), call('c2', 'own_b'), call('c1', 'own_a')]);
    const { input } = openAiResponses.appendToolResults(request, body, [result('c2'), result('c1')]);
    expect(input).toEqual([output('c1', '{"of":"c1"}'), output('c2', '{"of":"c2"}')]);
  });
  it('is the same after a stream, whose reasoning is complete only at its end', () => {
    const body = response('1', turn);
    const [streamed = {}] = relay([eventsOf(body)]).responses;
    expect(streamed).toEqual(body);
    expect(next({ store: false }, streamed)).toEqual(next({ store: false }, body));
  });
});

/** Plays the replies; the last one again and again. */
async function play(replies: JsonObject[], fields: JsonObject = {}, changes: Partial<typeof DEFAULT_SETTINGS> = {}) {
  const requests: JsonObject[] = [];
  const ran: string[] = [];
  const outcome = await runToolLoop({
    adapter: openAiResponses,
    request: { ...request, ...fields },
    bounds: createLoopBounds({ ...DEFAULT_SETTINGS, ...changes }, () => 0),
    callModel: async (sent) => {
      requests.push(sent);
      return replies[Math.min(requests.length, replies.length) - 1] ?? {};
    },
    isOwned: ({ name }) => name.startsWith('own'),
    runCalls: async (calls) => {
      ran.push(...calls.map(({ id }) => id));
      return calls.map(({ id }) => result(id));
    },
  });
  return { outcome, requests, ran };
}

describe('the tool loop', () => {
  const rounds = [
    response('1', [reasoning('1'), call('c1', 'own_a')]),
    response('2', [call('c2', 'own_b')]),
    response('3', [message('3', 'done')]),
  ];
  it('continues from reply to reply', async () => {
    const { requests } = await play(rounds, { tool_choice: 'required' });
    expect(requests.map(({ previous_response_id: id, input, tool_choice: choice }) => [id, input, choice])).toEqual([
      [undefined, [user('go')], 'required'],
      ['resp_1', [output('c1', '{"of":"c1"}')], 'auto'],
      ['resp_2', [output('c2', '{"of":"c2"}')], 'auto'],
    ]);
  });
  it('grows the input with store:false', async () => {
    const { requests } = await play(rounds, { store: false });
    expect(requests[2]?.input).toEqual([
      user('go'),
      reasoning('1'),
      call('c1', 'own_a'),
      output('c1', '{"of":"c1"}'),
      call('c2', 'own_b'),
      output('c2', '{"of":"c2"}'),
    ]);
    expect(requests[2]).not.toHaveProperty('previous_response_id');
  });
  it('never runs a call of a reply that was cut', async () => {
    const cut = response('1', [call('c1', 'own_a', '{"x":')], {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
    expect((await play([cut])).ran).toEqual([]);
  });
  it('forbids tools at a bound', async () => {
    const { requests } = await play([response('1', [call('c1', 'own_a')])], {}, { maxRounds: 2 });
    expect(requests.at(-1)).toMatchObject({ tool_choice: 'none', input: [{ output: expect.stringContaining('Not run.') }] });
  });
  it('runs all calls of a wrapper, and leaves one that is all the client’s alone', async () => {
    const { ran, requests } = await play([
      response('1', [wrapper('w', ['functions.own_a', {}], ['functions.own_b', {}])]),
      rounds[2] ?? {},
    ]);
    expect(ran).toEqual(['w_use0', 'w_use1']);
    expect(requests[1]?.input).toMatchObject([{ call_id: 'w' }]);
    const theirs = await play([response('1', [wrapper('w', ['functions.theirs', {}])])]);
    expect([theirs.ran, theirs.requests.length]).toEqual([[], 1]);
  });
  it('takes a turn with a call that only the client can answer for a mixed one', async () => {
    const sql = { type: 'custom_tool_call', id: 'ct_1', call_id: 'c2', name: 'sql', input: 'SELECT' };
    const { outcome, requests } = await play([response('1', [call('c1', 'own_a'), sql])]);
    expect([requests.length, outcome.pendingResults.map(({ callId }) => callId)]).toEqual([1, ['c1']]);
  });
});
