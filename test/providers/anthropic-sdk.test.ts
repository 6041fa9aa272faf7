import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { anthropic } from '../../src/providers/anthropic.ts';
import { call, message, relay, start, streamOf, text, thinking, visibility } from './anthropic-events.ts';

/** The official client, whose requests are answered with a stream that is there already. */
const clientOf = (sent: string) =>
  new Anthropic({
    apiKey: 'key',
    maxRetries: 0,
    fetch: async () => new Response(sent, { headers: { 'content-type': 'text/event-stream' } }),
  });
const streamFrom = (sent: string) =>
  clientOf(sent).messages.stream({ model: 'claude', max_tokens: 10, messages: [{ role: 'user', content: 'go' }] });

describe('the official client', () => {
  const rounds = [
    message([thinking('Hm.', 'sig-1'), text('Let me see. '), call('c1', 'own_a', { x: 1 })]),
    message([text('And now yours.'), call('c2', 'own_b'), call('c3', 'theirs', { city: 'Oslo' })], { id: 'msg_2' }),
  ];

  it('reads two rounds as the one message that a plain call would have given', async () => {
    const { sent, plain } = relay(rounds.map(streamOf));
    const final = await streamFrom(`${anthropic.keepalive}${anthropic.probe}${sent}`).finalMessage();
    const { omniroute: _, ...expected } = plain;
    expect(JSON.parse(JSON.stringify(final))).toEqual({ ...expected, parsed_output: null });
    expect(final.stop_reason).toBe('tool_use');
    expect(final.content.at(-1)).toMatchObject({ type: 'tool_use', id: 'c3!', input: { city: 'Oslo' } });
  });

  it('reads the error of a stream that failed, with its type', async () => {
    const stream = anthropic.createRelay({}, visibility);
    const sent = stream.push(JSON.stringify(start())) + stream.fail({ code: 'upstream_timeout', message: 'The model provider was silent' });
    await expect(streamFrom(sent).finalMessage()).rejects.toMatchObject({
      type: 'timeout_error',
      message: expect.stringContaining('silent'),
    });
  });

  it('does not take a stream that just ends for a message', async () => {
    const { sent } = relay(rounds.map(streamOf));
    const cut = sent.slice(0, sent.indexOf('event: message_delta'));
    await expect(streamFrom(cut).finalMessage()).rejects.toThrow();
  });

  it('tolerates what is added to the last event and to plain bodies', async () => {
    const { sent, plain } = relay(rounds.map(streamOf));
    let last: unknown;
    for await (const event of streamFrom(sent)) last = event;
    expect(last).toEqual({ type: 'message_stop', omniroute: plain.omniroute });
  });
});
