import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, objectsOf } from '../../src/json.ts';
import type { CallVisibility, Transcript } from '../../src/providers/adapter.ts';
import { openAiResponses } from '../../src/providers/openai-responses.ts';
import {
  call,
  eventsOf,
  message,
  output,
  reasoning,
  relay,
  replyOf,
  response,
  result,
  user,
  visibility,
  wrapper,
} from './openai-responses-fixture.ts';

const suspended: CallVisibility = { isHidden: visibility.isHidden, clientCallId: (id) => `${id}#T` };
const restore = (request: JsonObject, transcript?: Transcript) =>
  openAiResponses.restoreTurns(openAiResponses.removeInlineResults(request), (id) =>
    id.endsWith('#T') ? { id: id.slice(0, -2), ...(transcript !== undefined && { transcript }) } : undefined,
  );

/** A turn with a hidden round and a mixed one, suspended; JSON is what the store gives back. */
function suspend(original: JsonObject, mixed: JsonObject, answered: string[]) {
  const first = response('1', [reasoning('1'), message('1', 'Let me see.', { phase: 'commentary' }), call('h1', 'own_a')]);
  const last = openAiResponses.appendToolResults(original, first, [result('h1')]);
  const transcript = openAiResponses.suspendTurn(original, last, mixed, answered.map(result));
  const shown = objectsOf(openAiResponses.composeReply(replyOf([first, mixed]), suspended).output);
  return { hidden: [...objectsOf(first.output), output('h1', '{"of":"h1"}')], transcript: JSON.parse(JSON.stringify(transcript)), shown };
}

describe('a suspended turn', () => {
  const original: JsonObject = { model: 'm', input: 'go' };
  const mixed = response('2', [reasoning('2'), call('c1', 'theirs'), call('h2', 'own_a'), call('c2', 'theirs')]);
  const { hidden, transcript, shown } = suspend(original, mixed, ['h2']);
  const own = [output('c2#T', 'two'), output('c1#T', 'one')];
  const answers = [output('c1', 'one'), output('h2', '{"of":"h2"}'), output('c2', 'two')];

  it('shows the client its own calls alone', () => {
    expect(shown).toEqual([
      reasoning('1'),
      message('1', 'Let me see.', { phase: 'commentary' }),
      reasoning('2'),
      { ...call('c1', 'theirs'), call_id: 'c1#T' },
      { ...call('c2', 'theirs'), call_id: 'c2#T' },
    ]);
  });

  it.each<[string, JsonObject]>([
    ['the provider keeps replies', {}],
    ['it does not', { store: false }],
  ])('comes back whole when the items are echoed and %s', (_, fields) => {
    const request = { ...original, ...fields, input: [user('go'), ...shown, ...own, user('and now?')] };
    expect(openAiResponses.historyCallIds(request)).toEqual(['c1#T', 'c2#T', 'c2#T', 'c1#T']);
    expect(restore(request, transcript)).toEqual({
      ...original,
      ...fields,
      input: [user('go'), ...hidden, ...objectsOf(mixed.output), ...answers, user('and now?')],
    });
  });

  it('comes back whole from a client that puts each answer behind its call, and from one that leaves ids out', () => {
    const withoutIds = shown.map(({ id: _, ...item }) => item);
    const [, , , c1 = {}, c2 = {}] = withoutIds;
    const input = [user('go'), ...withoutIds.slice(0, 3), c1, output('c1#T', 'one'), c2, output('c2#T', 'two'), message('9', 'next')];
    expect(restore({ ...original, input }, transcript).input).toEqual([
      user('go'),
      ...hidden,
      ...objectsOf(mixed.output),
      ...answers,
      message('9', 'next'),
    ]);
  });

  it('comes back whole from a client that refers to items by their ids', () => {
    const references = shown.map(({ id }) => ({ type: 'item_reference', id: id ?? null }));
    const input = [user('go'), ...references, ...own];
    expect(restore({ ...original, input }, transcript).input).toEqual([user('go'), ...hidden, ...objectsOf(mixed.output), ...answers]);
  });

  it.each<JsonObject>([{ previous_response_id: 'resp_2' }, { conversation: 'conv_1' }])(
    'needs nothing but the hidden answers, in call order, with %j',
    (fields) => {
      expect(restore({ ...original, ...fields, input: [...own, user('and now?')] }, transcript)).toEqual({
        ...original,
        ...fields,
        input: [...answers, user('and now?')],
      });
    },
  );

  it('comes back whole when the items are echoed on top of an earlier reply', () => {
    const input = [user('go'), ...shown, ...own];
    expect(restore({ ...original, previous_response_id: 'resp_0', input }, transcript)).toEqual({
      ...original,
      previous_response_id: 'resp_0',
      input: [user('go'), ...hidden, ...objectsOf(mixed.output), ...answers],
    });
  });

  it('gets the calls back that a client left out of its history', () => {
    expect(restore({ ...original, input: [user('go'), ...own] }, transcript).input).toEqual([
      user('go'),
      ...hidden,
      ...objectsOf(mixed.output),
      ...answers,
    ]);
  });

  it('keeps what stands between its items and what a model said before it', () => {
    const before = { model: 'm', input: [user('a'), message('0', 'earlier')] };
    const other = suspend(before, mixed, ['h2']);
    const input = [...before.input, ...other.shown, output('c1#T', 'one'), user('wait'), output('c2#T', 'two')];
    expect(restore({ ...before, input }, other.transcript).input).toEqual([
      ...before.input,
      ...hidden,
      ...objectsOf(mixed.output),
      ...answers,
      user('wait'),
    ]);
  });

  it('does not repeat hosted outputs that the client echoes', () => {
    const hosted = [
      { type: 'shell_call', id: 'sh_1', call_id: 's1', environment: { type: 'container_reference', container_id: 'x' } },
      { type: 'shell_call_output', id: 'sho_1', call_id: 's1', output: [] },
    ];
    const body = response('2', [...hosted, call('c1', 'theirs'), call('h2', 'own_a')]);
    const turn = suspend(original, body, ['h2']);
    const { input } = restore({ ...original, input: [user('go'), ...turn.shown, output('c1#T', 'one')] }, turn.transcript);
    expect(input).toEqual([user('go'), ...hidden, ...objectsOf(body.output), output('c1', 'one'), output('h2', '{"of":"h2"}')]);
  });

  it('only loses its marks when nothing was stored', () => {
    const input = [user('go'), { ...call('c1', 'theirs'), call_id: 'c1#T' }, output('c1#T', 'one')];
    expect(restore({ ...original, input }).input).toEqual([user('go'), call('c1', 'theirs'), output('c1', 'one')]);
  });

  it('is found behind another one', () => {
    const calls = (name: string) => [{ ...call(`c${name}`, 'theirs'), call_id: `c${name}#${name}` }, output(`c${name}#${name}`, name)];
    const turns = new Map(
      ['A', 'B'].map((name) => {
        const body = response(name, [call(`c${name}`, 'theirs'), call(`h${name}`, 'own_a')]);
        return [name, openAiResponses.suspendTurn(original, original, body, [result(`h${name}`)])];
      }),
    );
    const { input } = openAiResponses.restoreTurns({ ...original, input: [user('go'), ...calls('A'), ...calls('B')] }, (id) => {
      const [plain = '', name = ''] = id.split('#');
      const found = turns.get(name);
      return found === undefined ? undefined : { id: plain, transcript: found };
    });
    expect(objectsOf(input).map((item) => item.call_id)).toEqual([undefined, 'cA', 'hA', 'cA', 'hA', 'cB', 'hB', 'cB', 'hB']);
  });

  it('takes other kinds of the client’s calls and approvals along', () => {
    const sql = { type: 'custom_tool_call', id: 'ct_1', call_id: 'c1', name: 'sql', input: 'SELECT' };
    const approval = { type: 'mcp_approval_request', id: 'mcpr_1', name: 'x', arguments: '{}', server_label: 's' };
    const body = response('2', [sql, call('h2', 'own_a'), approval]);
    const turn = suspend(original, body, ['h2']);
    expect(turn.shown.slice(2)).toMatchObject([{ call_id: 'c1#T' }, { id: 'mcpr_1#T' }]);
    const own = [
      { type: 'mcp_approval_response', approval_request_id: 'mcpr_1#T', approve: true },
      { type: 'custom_tool_call_output', call_id: 'c1#T', output: 'rows' },
    ];
    expect(restore({ ...original, previous_response_id: 'resp_2', input: own }, turn.transcript).input).toEqual([
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'rows' },
      output('h2', '{"of":"h2"}'),
      { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
    ]);
  });

  it('joins the answers of a wrapper whose calls are shared with the client', () => {
    const body = response('2', [wrapper('w', ['functions.own_a', {}], ['functions.theirs', { x: 1 }])]);
    const turn = suspend(original, body, ['w_use0']);
    expect(turn.shown.at(-1)).toEqual({ ...call('w', 'theirs', '{"x":1}'), id: 'fc_w_use1', call_id: 'w_use1#T' });
    const joined = output(
      'w',
      JSON.stringify({
        results: [
          { recipient_name: 'functions.own_a', output: '{"of":"w_use0"}' },
          { recipient_name: 'functions.theirs', output: 'one' },
        ],
      }),
    );
    const own = [output('w_use1#T', 'one')];
    expect(restore({ ...original, previous_response_id: 'resp_2', input: own }, turn.transcript).input).toEqual([joined]);
    expect(restore({ ...original, input: [user('go'), ...turn.shown, ...own] }, turn.transcript).input).toEqual([
      user('go'),
      ...hidden,
      ...objectsOf(body.output),
      joined,
    ]);
  });

  it('leaves a request without marks as it is', () => {
    const request = { ...original, input: [user('go'), call('c1', 'theirs'), output('c1', 'one')] };
    expect(openAiResponses.restoreTurns(request, () => undefined)).toBe(request);
  });

  it('without reasoning that could not be looked up, where nothing is kept', () => {
    const body = response('2', [reasoning('2', {}), call('c1', 'theirs'), call('h2', 'own_a')]);
    const turn = suspend({ ...original, store: false }, body, ['h2']);
    const { input } = restore({ ...original, store: false, input: [user('go'), ...turn.shown, output('c1#T', 'one')] }, turn.transcript);
    expect(objectsOf(input).filter(({ type }) => type === 'reasoning')).toEqual([reasoning('1')]);
  });
});

describe('an inline reply', () => {
  const everything: CallVisibility = { isHidden: () => false, clientCallId: (id) => id };
  const body = response('1', [reasoning('1'), call('c1', 'own_a'), message('1', 'ok'), call('c2', 'theirs')]);
  const inlineResults = [result('c1')];
  const shown = objectsOf(openAiResponses.composeReply(replyOf([body], inlineResults), everything).output);

  it('ends with the results as items', () => {
    expect(shown.slice(0, 4)).toEqual(body.output);
    expect(shown.slice(4)).toEqual([{ ...output('c1', '{"of":"c1"}'), id: 'fco_omr_c1', status: 'completed' }]);
  });
  it('streams the results as items before the end', () => {
    const { events, final } = relay([eventsOf(body)], { seen: everything, inlineResults });
    expect(final.output).toEqual(shown);
    expect(events.slice(-3).map(({ type, output_index: index }) => [type, index])).toEqual([
      ['response.output_item.added', 4],
      ['response.output_item.done', 4],
      ['response.completed', undefined],
    ]);
  });
  it('gives a wrapper one result', () => {
    const reply = replyOf([response('1', [wrapper('w', ['own_a', {}], ['own_b', {}])])], [result('w_use0'), result('w_use1')]);
    const { output: items } = openAiResponses.composeReply(reply, everything);
    expect(objectsOf(items).map(({ call_id: id }) => id)).toEqual(['w', 'w']);
  });

  const tools = [{ type: 'function', name: 'theirs' }];
  it('loses its results with their calls and the reasoning of those when it is echoed', () => {
    const only = response('1', [reasoning('1'), call('c1', 'own_a')]);
    const echoed = objectsOf(openAiResponses.composeReply(replyOf([only], inlineResults), everything).output);
    expect(openAiResponses.removeInlineResults({ tools, input: [user('go'), ...echoed, user('next')] })).toEqual({
      tools,
      input: [user('go'), user('next')],
    });
    expect(openAiResponses.removeInlineResults({ tools, input: [user('go'), ...echoed] }).input).toEqual([user('go')]);
  });
  it('keeps everything else, and reasoning that another item follows', () => {
    const input = [user('go'), ...shown, output('c2', 'two')];
    expect(openAiResponses.removeInlineResults({ tools, input }).input).toEqual([
      user('go'),
      reasoning('1'),
      message('1', 'ok'),
      call('c2', 'theirs'),
      output('c2', 'two'),
    ]);
  });
  it('gives way to an answer of the client’s own', () => {
    const input = [user('go'), ...shown, output('c1', 'mine'), output('c2', 'two')];
    const { input: cleaned } = openAiResponses.removeInlineResults({ tools, input });
    expect(objectsOf(cleaned).filter(({ type }) => type === 'function_call_output')).toEqual([output('c1', 'mine'), output('c2', 'two')]);
  });
  it('is answered by its results when the provider knows the calls', () => {
    const fields = { tools, previous_response_id: 'resp_1' };
    expect(openAiResponses.removeInlineResults({ ...fields, input: [...shown.slice(4), output('c2', 'two')] })).toEqual({
      ...fields,
      input: [{ ...output('c1', '{"of":"c1"}'), status: 'completed' }, output('c2', 'two')],
    });
  });
  it('loses calls that nobody answered and that are no tool of the client', () => {
    const input = [user('go'), call('c1', 'own_a'), call('c2', 'theirs'), user('next')];
    expect(openAiResponses.removeInlineResults({ tools, input }).input).toEqual([user('go'), call('c2', 'theirs'), user('next')]);
  });
  it('keeps unanswered calls of the client’s tools in namespaces', () => {
    const request = { tools: [{ type: 'namespace', name: 'crm', tools }], input: [call('c1', 'theirs', '{}', { namespace: 'crm' })] };
    expect(openAiResponses.removeInlineResults(request)).toBe(request);
  });
  it('that is none leaves the request as it is', () => {
    const request = { tools, input: [user('go'), reasoning('1'), call('c1', 'x'), output('c1', ''), call('c2', 'theirs')] };
    expect(openAiResponses.removeInlineResults(request)).toBe(request);
    const text = { tools, input: 'go' };
    expect(openAiResponses.removeInlineResults(text)).toBe(text);
  });
});

describe('reasoning that led to a hidden call', () => {
  const rounds = [response('1', [reasoning('1'), call('h1', 'own_a')]), response('2', [message('2', 'It is 4.')])];
  const { final, plain, events } = relay(rounds.map(eventsOf));

  it('marks what follows it, in every event alike', () => {
    expect(objectsOf(final.output).map(({ id }) => id)).toEqual(['rs_1', 'msg_2_omrh']);
    expect(final.output).toEqual(plain.output);
    const ids = events.flatMap((event) =>
      event.output_index === 1 ? [event.item_id ?? (isJsonObject(event.item) ? event.item.id : undefined)] : [],
    );
    expect(new Set(ids)).toEqual(new Set(['msg_2_omrh']));
  });
  it('goes when the client echoes it, since the API refuses it without that call', () => {
    const input = [user('go'), ...objectsOf(final.output), user('thanks')];
    expect(openAiResponses.removeInlineResults({ input }).input).toEqual([user('go'), message('2', 'It is 4.'), user('thanks')]);
    const references = objectsOf(final.output).map(({ id }) => ({ type: 'item_reference', id: id ?? null }));
    expect(openAiResponses.removeInlineResults({ input: references }).input).toEqual([{ type: 'item_reference', id: 'msg_2' }]);
  });
  it('goes in each of several rounds, and stays before the item that it led to', () => {
    const more = [
      ...rounds.slice(0, 1),
      response('2', [reasoning('2'), call('h2', 'own_a')]),
      response('3', [reasoning('3'), message('3', 'x')]),
    ];
    const echoed = objectsOf(openAiResponses.composeReply(replyOf(more), visibility).output);
    expect(openAiResponses.removeInlineResults({ input: echoed }).input).toEqual([reasoning('3'), message('3', 'x')]);
    const spoken = [response('1', [reasoning('1'), message('1', 'hm'), call('h1', 'own_a')]), response('2', [message('2', 'x')])];
    expect(openAiResponses.composeReply(replyOf(spoken), visibility).output).toEqual([
      reasoning('1'),
      message('1', 'hm'),
      message('2', 'x'),
    ]);
  });
});
