import type { ServerResponse } from 'node:http';
import type { JsonObject } from '../../src/json.ts';
import { call, chunk, text } from '../providers/gemini-chunks.ts';
import { text as block, blockDelta, blockStart, messageEvents, messageStart, toolUse } from './anthropic-replies.ts';
import { contentChunks } from './gemini-replies.ts';
import { chatChunk, chatChunks } from './openai-replies.ts';
import { functionCall, itemEvents, message, responseEvents, responseStart } from './responses-replies.ts';

type Event = JsonObject | string;

/** What one wire format makes of the same stream. */
export interface FloodFormat {
  path(model: string): string;
  /** A request whose user says something. */
  body(model: string, said: string): JsonObject;
  /** How a stream begins, and what goes on and on. */
  open: Event[];
  more: Event;
  whole(said: string): Event[];
  calling(name: string, input: JsonObject): Event[];
  /** What stands at the end of a whole stream. */
  end: string;
}

const user = (said: string) => [{ role: 'user', content: said }];

const gemini = (query: string): FloodFormat => ({
  path: (model) => `/v1beta/models/${model}:streamGenerateContent${query}`,
  body: (_, said) => ({ contents: [{ role: 'user', parts: [{ text: said }] }] }),
  open: [],
  more: chunk([text('more ')]),
  whole: (said) => contentChunks({ parts: [text(said)] }),
  calling: (name, input) => contentChunks({ parts: [text('Calling. '), call(name, input)] }),
  end: '"finishReason":"STOP"',
});

const opened = itemEvents(message(''), 0).slice(0, 2);

export const FLOOD_FORMATS: Readonly<Record<string, FloodFormat>> = {
  chat: {
    path: () => '/v1/chat/completions',
    body: (model, said) => ({ model, stream: true, messages: user(said) }),
    open: [chatChunk({ role: 'assistant', content: '' })],
    more: chatChunk({ content: 'more ' }),
    whole: (said) => chatChunks({ text: said }),
    calling: (name, input) => chatChunks({ text: 'Calling. ', calls: [['call_1', name, JSON.stringify(input)]] }),
    end: 'data: [DONE]',
  },
  responses: {
    path: () => '/v1/responses',
    body: (model, said) => ({ model, stream: true, input: said }),
    open: [responseStart({ output: [] }, {}), ...opened],
    more: { type: 'response.output_text.delta', item_id: 'msg_mock', output_index: 0, content_index: 0, delta: 'more ' },
    whole: (said) => responseEvents({ output: [message(said)] }, {}),
    calling: (name, input) => responseEvents({ output: [message('Calling. '), functionCall('call_1', name, JSON.stringify(input))] }, {}),
    end: 'event: response.completed',
  },
  messages: {
    path: () => '/v1/messages',
    body: (model, said) => ({ model, stream: true, max_tokens: 1_000, messages: user(said) }),
    open: [messageStart(), blockStart(0, block(''))],
    more: blockDelta(0, { type: 'text_delta', text: 'more ' }),
    whole: (said) => messageEvents({ content: [block(said)] }),
    calling: (name, input) => messageEvents({ content: [block('Calling. '), toolUse('toolu_1', name, input)] }),
    end: 'event: message_stop',
  },
  gemini: gemini('?alt=sse'),
  'gemini as an array': gemini(''),
};

/** Writes events as a provider does. */
export function writeEvents(response: ServerResponse, events: readonly Event[]): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    const name = typeof event === 'string' || typeof event.type !== 'string' ? '' : `event: ${event.type}\n`;
    response.write(`${name}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
  }
}
