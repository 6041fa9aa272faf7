import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLoopBounds } from '../../src/gateway/loop-bounds.ts';
import { runInlineRound, runToolLoop } from '../../src/gateway/tool-loop.ts';
import type { JsonObject } from '../../src/json.ts';
import type { Reply } from '../../src/providers/adapter.ts';
import { anthropic } from '../../src/providers/anthropic.ts';
import { DEFAULT_SETTINGS } from '../../src/settings.ts';
import { createApiRules } from './anthropic-api-rules.ts';
import { call, fold, message, readFrames, redacted, streamOf, text, thinking } from './anthropic-events.ts';

const isHidden = (name: string) => name.startsWith('own');
const tools = [{ name: 'own_a' }, { name: 'theirs' }];

interface Conversation {
  streamed: boolean;
  inline: boolean;
}

/** A client that talks to the model through the loop, as the gateway runs it. The API's rules are checked on every request. */
function converse(replies: JsonObject[], { streamed, inline }: Conversation) {
  const rules = createApiRules();
  const transcripts = new Map<string, JsonObject>();
  const requests: JsonObject[] = [];
  let messages: JsonObject[] = [{ role: 'user', content: 'go' }];
  let turns = 0;

  const unmark = (id: string) => {
    const [, original, turn] = /^(.*)_T(\d+)$/.exec(id) ?? [];
    const transcript = transcripts.get(turn ?? '');
    return original === undefined ? undefined : { id: original, ...(transcript && { transcript }) };
  };

  async function ask(fields: JsonObject = {}): Promise<JsonObject> {
    const turn = String(turns++);
    const cleaned = anthropic.removeInlineResults({ model: 'm', tools: [{ name: 'theirs' }], messages, ...fields });
    const original = anthropic.restoreTurns(cleaned, unmark);
    const visibility = {
      isHidden: (name: string) => !inline && isHidden(name),
      clientCallId: (id: string) => (inline ? id : `${id}_T${turn}`),
    };
    const relay = anthropic.createRelay(original, visibility);
    let sent = '';
    const loop = {
      adapter: anthropic,
      request: { ...original, tools },
      bounds: createLoopBounds({ ...DEFAULT_SETTINGS, maxRounds: 3, maxIdenticalCalls: 99 }, () => 0),
      callModel: async (request: JsonObject) => {
        rules.check(request);
        requests.push(request);
        const next = replies.shift() ?? message([text('The end.')]);
        // A model whose tools are forbidden calls none.
        const isForbidden = (request.tool_choice as JsonObject | undefined)?.type === 'none';
        const response = isForbidden ? message([text('Enough.')]) : next;
        rules.issue(response);
        if (!streamed) return response;
        for (const event of streamOf(response)) sent += relay.push(JSON.stringify(event));
        return relay.endRound().response;
      },
      isOwned: ({ name }: { name: string }) => isHidden(name),
      runCalls: async (calls: readonly { id: string; name: string }[]) =>
        calls.map(({ id, name }) => ({ callId: id, name, content: `{"of":"${id}"}`, failed: false })),
    };
    const { responses, request, pendingResults } = await (inline ? runInlineRound(loop) : runToolLoop(loop));
    const last = responses.at(-1) ?? {};
    const isMixed = anthropic.readTurn(last).calls.some(({ name }) => !isHidden(name));
    if (!inline && isMixed) transcripts.set(turn, anthropic.suspendTurn(original, request, last, pendingResults) as JsonObject);
    const report = { rounds: responses.length, executions: [], usageByRound: [] };
    const reply: Reply = { responses, report, inlineResults: inline ? pendingResults : [] };
    return streamed ? fold(readFrames(sent + relay.finish(reply))) : anthropic.composeReply(reply, visibility);
  }

  /** The client's next request: what it was shown, a result for each of its calls, in any order, and some words. */
  function answer(reply: JsonObject): void {
    const content = (reply.content as JsonObject[]).filter((block) => block.type !== 'text' || String(block.text).trim() !== '');
    const calls = content.filter((block) => block.type === 'tool_use' && !isHidden(String(block.name)));
    const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'theirs' })) as JsonObject[];
    messages = [
      ...messages,
      ...(content.length > 0 ? [{ role: 'assistant', content }] : []),
      { role: 'user', content: [...results.toReversed(), text('Go on.')] },
    ];
  }

  return { ask, answer, requests };
}

const words = fc.constantFrom('', ' ', 'One.', 'Two.');
const block = fc.oneof(
  words.map(text),
  fc.constantFrom('sig-1', 'sig-2').map((signature) => thinking('Hm.', signature)),
  fc.constant(redacted('blob')),
  fc.constantFrom('own_a', 'theirs').map((name) => call('', name, { x: 1 })),
);
const replies = fc
  .array(fc.tuple(fc.array(block, { maxLength: 5 }), fc.constantFrom('end_turn', 'tool_use')), { maxLength: 8 })
  .map((all) =>
    all.map(([content, reason], round) => {
      const named = content.map((each, position) => (each.type === 'tool_use' ? { ...each, id: `c${round}_${position}` } : each));
      const isPaused = reason === 'end_turn' && round % 3 === 1 && named.every(({ type }) => type !== 'tool_use');
      return message(named, { id: `msg_${round}`, stop_reason: isPaused ? 'pause_turn' : reason });
    }),
  );

describe('a conversation', () => {
  it.each<[string, Conversation]>([
    ['plain', { streamed: false, inline: false }],
    ['streamed', { streamed: true, inline: false }],
    ['plain, with inline results', { streamed: false, inline: true }],
    ['streamed, with inline results', { streamed: true, inline: true }],
  ])('of any replies keeps the rules of the API: %s', async (_, how) => {
    await fc.assert(
      fc.asyncProperty(replies, async (all) => {
        const { ask, answer } = converse([...all], how);
        for (let turn = 0; turn < 3; turn++) answer(await ask());
        await ask();
      }),
      { numRuns: 300 },
    );
  });

  it.each([false, true])('goes on with a paused reply, whose continuation is shown whole (streamed: %s)', async (streamed) => {
    const paused = message([thinking('Search.', 'sig-1'), { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }], {
      stop_reason: 'pause_turn',
    });
    const going = message([thinking('Found.', 'sig-2'), text('Now yours.'), call('c1', 'theirs', { a: 1 })]);
    const { ask, answer, requests } = converse([paused, going], { streamed, inline: false });
    const reply = await ask();
    expect(reply.content).toEqual([
      ...(paused.content as JsonObject[]),
      thinking('Found.', 'sig-2'),
      text('Now yours.'),
      call('c1_T0', 'theirs', { a: 1 }),
    ]);
    expect(reply.stop_reason).toBe('tool_use');
    answer(reply);
    await ask();
    expect(requests.at(-1)?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: paused.content },
      { role: 'assistant', content: going.content },
      { role: 'user', content: [{ tool_use_id: 'c1' }, text('Go on.')] },
    ]);
  });

  it('releases a forced call after the first round, and forbids calls at a bound', async () => {
    const calling = (round: number) => message([call(`c${round}`, 'own_a', { round })]);
    const { ask, requests } = converse([1, 2, 3, 4, 5, 6].map(calling), { streamed: true, inline: false });
    const reply = await ask({ tool_choice: { type: 'any', disable_parallel_tool_use: true } });
    expect(requests.map(({ tool_choice: choice }) => choice)).toEqual([
      { type: 'any', disable_parallel_tool_use: true },
      { type: 'auto', disable_parallel_tool_use: true },
      { type: 'auto', disable_parallel_tool_use: true },
      { type: 'auto', disable_parallel_tool_use: true },
      { type: 'none' },
    ]);
    expect(requests.every((request) => request.tools === tools)).toBe(true);
    expect(reply).toMatchObject({ content: [text('Enough.')], stop_reason: 'end_turn' });
  });
});
