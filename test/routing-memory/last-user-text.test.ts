import { expect, it } from 'vitest';
import type { WireFormat } from '../../src/env.ts';
import type { JsonObject } from '../../src/json.ts';
import { lastUserText } from '../../src/routing-memory/last-user-text.ts';

it.each<[WireFormat, JsonObject, string]>([
  [
    'openai',
    {
      messages: [
        { role: 'user', content: 'first' },
        { role: 'user', content: 'last' },
        { role: 'assistant', content: 'hm' },
      ],
    },
    'last',
  ],
  [
    'openai',
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'image_url' }, { type: 'text', text: 'b' }] }] },
    'a\nb',
  ],
  ['openai', { messages: [{ role: 'system', content: 'x' }] }, ''],
  [
    'anthropic',
    {
      messages: [
        { role: 'user', content: 'ask' },
        { role: 'user', content: [{ type: 'tool_result', content: 'secret' }] },
      ],
    },
    'ask',
  ],
  ['openai-responses', { input: 'plain' }, 'plain'],
  [
    'openai-responses',
    {
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
        { type: 'function_call_output', output: 'no' },
      ],
    },
    'hi',
  ],
  [
    'gemini',
    {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ text: 'no' }] },
      ],
    },
    'hi',
  ],
  ['gemini', { contents: { parts: { text: 'alone' } } }, 'alone'],
  ['gemini', {}, ''],
  ['openai', { messages: [{ role: 'user', content: 7 }, null] }, ''],
])('reads what the user said last in %s', (format, body, text) => {
  expect(lastUserText(format, body)).toBe(text);
});
