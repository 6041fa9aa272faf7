import { describe, expect, it } from 'vitest';
import { createLoopBounds } from '../../src/gateway/loop-bounds.ts';
import { runToolLoop } from '../../src/gateway/tool-loop.ts';
import { isJsonObject, type JsonObject, objectsOf } from '../../src/json.ts';
import type { ToolCall } from '../../src/providers/adapter.ts';
import { openAiChat } from '../../src/providers/openai-chat.ts';
import { DEFAULT_SETTINGS } from '../../src/settings.ts';

const reply = (calls: [string, string, string][], finish = 'tool_calls', content: string | null = null): JsonObject => ({
  id: 'chatcmpl-1',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content,
        ...(calls.length > 0 && {
          tool_calls: calls.map(([id, name, text]) => ({ id, type: 'function', function: { name, arguments: text } })),
        }),
      },
      finish_reason: finish,
    },
  ],
});

/** Plays the replies; the last one again and again. `ran` are the calls that were really run. */
async function play(replies: JsonObject[], changes: Partial<typeof DEFAULT_SETTINGS> = {}, request: JsonObject = {}) {
  const requests: JsonObject[] = [];
  const ran: ToolCall[] = [];
  const outcome = await runToolLoop({
    adapter: openAiChat,
    request: { model: 'm', messages: [{ role: 'user', content: 'go' }], ...request },
    bounds: createLoopBounds({ ...DEFAULT_SETTINGS, ...changes }, () => 0),
    callModel: async (sent) => {
      requests.push(sent);
      return replies[Math.min(requests.length, replies.length) - 1] ?? {};
    },
    isOwned: ({ name }) => name.startsWith('own'),
    runCalls: async (calls) => {
      ran.push(...calls);
      return calls.map(({ id, name }) => ({ callId: id, name, content: `{"of":"${id}"}`, failed: name === 'own_bad' }));
    },
  });
  const messages = requests.map((sent) => objectsOf(sent.messages));
  return { outcome, requests, messages, ran };
}

describe('runToolLoop', () => {
  it('answers at once when nothing is owned, and never touches a client call', async () => {
    const { outcome, ran } = await play([reply([['c1', 'theirs', '{}']])]);
    expect([outcome.responses.length, outcome.pendingResults, ran]).toEqual([1, [], []]);
  });

  it('feeds results back in call order until the model answers', async () => {
    const calls: [string, string, string][] = [
      ['c1', 'own_a', '{"x":1}'],
      ['c2', 'own_b', ''],
    ];
    const { outcome, messages, ran } = await play([reply(calls), reply([], 'stop', 'done')]);
    expect(outcome.responses.length).toBe(2);
    expect(ran.map(({ arguments: read }) => read)).toEqual([
      { readable: true, value: { x: 1 } },
      { readable: true, value: {} },
    ]);
    expect(messages[1]?.slice(1)).toEqual([
      (reply(calls) as { choices: { message: JsonObject }[] }).choices[0]?.message,
      { role: 'tool', tool_call_id: 'c1', content: '{"of":"c1"}' },
      { role: 'tool', tool_call_id: 'c2', content: '{"of":"c2"}' },
    ]);
  });

  it.each(['required', { type: 'function', function: { name: 'own_a' } }])(
    'releases the forced tool choice %j after round 1',
    async (choice) => {
      const { requests } = await play([reply([['c1', 'own_a', '{}']]), reply([], 'stop', 'done')], {}, { tool_choice: choice });
      expect(requests.map((sent) => sent.tool_choice)).toEqual([choice, 'auto']);
    },
  );

  it.each(['length', 'content_filter'])('never runs a call of a reply that ended with %s', async (finish) => {
    const { outcome, ran } = await play([reply([['c1', 'own_a', '{"x":']], finish)]);
    expect(ran).toEqual([]);
    expect(outcome.pendingResults[0]?.failed).toBe(true);
  });

  it('leaves a mixed turn with the results of the owned calls', async () => {
    const { outcome, requests } = await play([
      reply([
        ['c1', 'theirs', '{}'],
        ['c2', 'own_a', '{}'],
      ]),
    ]);
    expect(requests.length).toBe(1);
    expect(outcome.pendingResults.map(({ callId }) => callId)).toEqual(['c2']);
  });

  it('at the limit of rounds answers the pending calls with an error and asks once more without tools', async () => {
    let round = 0;
    const replies = Array.from({ length: 12 }, () => reply([['c', 'own_a', `{"round":${round++}}`]]));
    const { requests, messages, ran, outcome } = await play(replies, { maxRounds: 3 });
    expect([requests.length, ran.length, outcome.responses.length]).toEqual([5, 3, 5]);
    expect(requests.map((sent) => sent.tool_choice)).toEqual([undefined, undefined, undefined, undefined, 'none']);
    expect(messages[4]?.at(-1)?.content).toContain('Not run. The limit of 3 rounds is reached.');
    expect(outcome.pendingResults[0]?.content).toContain('No further calls are possible');
  });

  it('ends after three rounds in which every call failed', async () => {
    let round = 0;
    const replies = Array.from({ length: 12 }, () => reply([['c', 'own_bad', `{"round":${round++}}`]]));
    const { requests, ran } = await play(replies);
    expect([requests.length, ran.length, requests.at(-1)?.tool_choice]).toEqual([4, 3, 'none']);
  });

  it('ends at the third identical call', async () => {
    const { requests, ran } = await play([reply([['c', 'own_a', '{}']])]);
    expect([requests.length, ran.length, requests.at(-1)?.tool_choice]).toEqual([4, 2, 'none']);
  });

  it('keeps fields of the reply that it does not know', async () => {
    const thinking = reply([['c1', 'own_a', '{}']]);
    const [choice] = objectsOf(thinking.choices);
    if (isJsonObject(choice?.message)) choice.message.reasoning_content = 'hm';
    const { messages } = await play([thinking, reply([], 'stop', 'done')]);
    expect(messages[1]?.[1]?.reasoning_content).toBe('hm');
  });
});
