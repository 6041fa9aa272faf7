import { ApiError, type GenerateContentResponse, GoogleGenAI } from '@google/genai';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { createGemini } from '../../src/providers/gemini.ts';
import { body, call, chunk, end, relay, signed, text, thought, usage } from './gemini-chunks.ts';

type Answer = { sent: string; status?: number; type?: string };

/** The official client, whose requests are answered with what is there already; `urls` and `bodies` are what it asked. */
function clientOf(answers: readonly Answer[]) {
  const urls: string[] = [];
  const bodies: JsonObject[] = [];
  const left = [...answers];
  const client = new GoogleGenAI({
    apiKey: 'key',
    httpOptions: {
      baseUrl: 'http://gateway.example',
      fetch: async (input, init) => {
        urls.push(String(input));
        bodies.push(JSON.parse(String(init?.body)) as JsonObject);
        const { sent, status = 200, type = 'text/event-stream' } = left.shift() ?? { sent: '' };
        return new Response(sent, { status, headers: { 'content-type': type } });
      },
    },
  });
  return { client, urls, bodies };
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

const answerOf = (reply: GenerateContentResponse): string =>
  (reply.candidates?.[0]?.content?.parts ?? []).map((part) => (part.thought ? '' : (part.text ?? ''))).join('');

const rounds = [
  [chunk([thought('Hm.')]), chunk([text('Let me see. ')]), chunk([signed(call('own_a', { x: 1 }), 'sig')]), end()],
  [
    chunk([text('And now yours.')], { responseId: 'r2' }),
    chunk([call('theirs', { city: 'Oslo' })], { responseId: 'r2' }),
    end({ responseId: 'r2' }),
  ],
];

describe('the official client', () => {
  it.each([false, true])('reads two rounds as one stream, probed: %s', async (probed) => {
    const { sent } = relay(rounds, { probed });
    const { client, urls } = clientOf([{ sent }]);
    const stream = await client.models.generateContentStream({ model: 'gemini-test', contents: 'go' });
    const chunks = await collect(stream);
    expect(urls).toEqual(['http://gateway.example/v1/models/gemini-test:streamGenerateContent?alt=sse']);
    expect(chunks.map(answerOf).join('')).toBe('Let me see. And now yours.');
    expect(chunks.flatMap((each) => each.functionCalls ?? [])).toEqual([{ id: 'omr_call_r2_0!', name: 'theirs', args: { city: 'Oslo' } }]);
    expect(chunks.flatMap((each) => each.candidates?.[0]?.finishReason ?? [])).toEqual(['STOP']);
    expect(chunks.at(-1)?.usageMetadata?.promptTokenCount).toBe(20);
    expect(new Set(chunks.map(({ responseId }) => responseId))).toEqual(new Set(['r1']));
  });

  it('reads the plain reply, and leaves alone what it does not know', async () => {
    const { plain } = relay(rounds);
    const { client, urls } = clientOf([{ sent: JSON.stringify(plain), type: 'application/json' }]);
    const reply = await client.models.generateContent({ model: 'gemini-test', contents: 'go' });
    expect(urls).toEqual(['http://gateway.example/v1/models/gemini-test:generateContent']);
    expect(answerOf(reply)).toBe('Let me see. And now yours.');
    expect(reply.functionCalls).toEqual([{ id: 'omr_call_r2_0!', name: 'theirs', args: { city: 'Oslo' } }]);
    expect(reply.usageMetadata?.totalTokenCount).toBe(22);
  });

  it('keeps the history of a streamed chat, from which the turn can be restored', async () => {
    const adapter = createGemini({ model: 'm', stream: true, framing: 'sse' });
    const streamed = relay(rounds);
    const { client, bodies } = clientOf([{ sent: streamed.sent }, { sent: relay([[chunk([text('Cold.')]), end()]]).sent }]);
    const chat = client.chats.create({ model: 'gemini-test' });
    await collect(await chat.sendMessageStream({ message: 'go' }));
    const response = { functionResponse: { id: 'omr_call_r2_0!', name: 'theirs', response: { output: '-3' } } };
    await collect(await chat.sendMessageStream({ message: [response] }));
    expect(chat.getHistory().at(-1)).toEqual({ role: 'model', parts: [{ text: '' }] });

    const echoed = bodies[1] ?? {};
    const original: JsonObject = { contents: [{ role: 'user', parts: [{ text: 'go' }] }] };
    const hidden = adapter.appendToolResults(original, streamed.responses[0] ?? {}, [
      { callId: 'omr_call_r1_0', name: 'own_a', content: '{"four":4}', failed: false },
    ]);
    const transcript = adapter.suspendTurn(original, hidden, streamed.responses[1] ?? {}, []);
    const restored = adapter.restoreTurns(echoed, (id) => (/[!?]$/.test(id) ? { id: id.slice(0, -1), transcript } : undefined));
    expect(restored.contents).toEqual([
      { role: 'user', parts: [{ text: 'go' }] },
      { role: 'model', parts: [thought('Hm.'), text('Let me see. '), signed(call('own_a', { x: 1 }), 'sig')] },
      { role: 'user', parts: [{ functionResponse: { name: 'own_a', response: { output: { four: 4 } } } }] },
      { role: 'model', parts: [text('And now yours.'), call('theirs', { city: 'Oslo' })] },
      { role: 'user', parts: [{ functionResponse: { name: 'theirs', response: { output: '-3' } } }] },
    ]);
  });

  it('throws what ends a stream early', async () => {
    const adapter = createGemini({ model: 'm', stream: true, framing: 'sse' });
    const stream = adapter.createRelay({}, { isHidden: () => false, clientCallId: (id) => id });
    const sent =
      stream.push(JSON.stringify(chunk([text('half')]))) + adapter.probe + stream.fail({ code: 'upstream_timeout', message: 'slow' });
    const { client } = clientOf([{ sent }]);
    const read = collect(await client.models.generateContentStream({ model: 'm', contents: 'go' }));
    const error: unknown = await read.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 504 });
  });

  it('throws our refusals with their status', async () => {
    const adapter = createGemini({ model: 'm', stream: false, framing: 'sse' });
    const sent = JSON.stringify(adapter.errorBody({ status: 429, code: 'upstream_failed', message: 'slow down' }));
    const { client } = clientOf([{ sent, status: 429, type: 'application/json' }]);
    await expect(client.models.generateContent({ model: 'm', contents: 'go' })).rejects.toMatchObject({
      status: 429,
      message: expect.stringContaining('"status":"RESOURCE_EXHAUSTED"'),
    });
  });
});

/** Ways in which Google's other clients and older ones read a stream, each with what it makes of lines that it does not expect. */
const READERS: Record<string, (sent: string) => JsonObject[]> = {
  'an expression at the beginning of what is left': (sent) => {
    const events: JsonObject[] = [];
    let left = sent;
    for (let match = /^data: (.*)(?:\n\n|\r\r|\r\n\r\n)/.exec(left); match; match = /^data: (.*)(?:\n\n|\r\r|\r\n\r\n)/.exec(left)) {
      events.push(JSON.parse(match[1] ?? '') as JsonObject);
      left = left.slice(match[0].length);
    }
    if (left.trim() !== '') throw new Error(`left over: ${left}`);
    return events;
  },
  'lines, of which those without data are JSON themselves': (sent) =>
    sent
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line.startsWith('data: ') ? line.slice(6) : line) as JsonObject),
  'events, of which those with another name are broken': (sent) =>
    sent
      .split('\n\n')
      .filter((event) => event !== '')
      .map((event) => {
        const colon = event.indexOf(':');
        if (event.slice(0, colon) !== 'data') throw new Error(`broken event: ${event}`);
        return JSON.parse(event.slice(colon + 1)) as JsonObject;
      }),
};

describe('a silent stream that is probed', () => {
  const quiet = relay(rounds);
  const afterFirstEvent = (sent: string) => sent.replace(/^\n+/, '');
  it.each(Object.entries(READERS))('is read all the same by %s', (_, read) => {
    const { sent } = relay(rounds, { probed: true });
    expect(sent.length).toBeGreaterThan(quiet.sent.length);
    expect(read(afterFirstEvent(sent))).toEqual(read(quiet.sent));
  });
  it.each(Object.entries(READERS).slice(1))('may be silent before its first event for %s', (_, read) => {
    expect(read(relay(rounds, { probed: true }).sent)).toEqual(quiet.chunks);
  });
});

describe('a stream without alt=sse', () => {
  it.each([false, true])('is one JSON array that grows, probed: %s', (probed) => {
    const { sent, chunks } = relay(rounds, { framing: 'json-array', probed });
    expect(chunks).toEqual(relay(rounds).chunks);
    expect(JSON.parse(sent)).toHaveLength(chunks.length);
    expect(sent).not.toContain('data:');
  });
  it('is written as the API writes it', () => {
    const { sent } = relay([[chunk([text('a')]), end({ usageMetadata: usage(1) })]], { framing: 'json-array' });
    expect(sent).toMatch(/^\[\{.*\}\n,\r\n\{.*\}\n\]\n$/);
  });
  it('ends with its error, whether anything came before or not', () => {
    const adapter = createGemini({ model: 'm', stream: true, framing: 'json-array' });
    const error = { error: expect.objectContaining({ code: 502, message: 'gone', status: 'UNAVAILABLE' }) };
    const open = () => adapter.createRelay({}, { isHidden: () => false, clientCallId: (id) => id });
    const empty = open();
    expect(JSON.parse(adapter.probe + empty.fail({ code: 'upstream_failed', message: 'gone' }))).toEqual([error]);
    const begun = open();
    const sent = begun.push(JSON.stringify(body([text('half')], undefined)));
    expect(JSON.parse(sent + adapter.keepalive + begun.fail({ code: 'upstream_failed', message: 'gone' }))).toEqual([
      expect.anything(),
      error,
    ]);
  });
});
