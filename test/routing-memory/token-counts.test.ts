import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { countTokens, usageIn } from '../../src/routing-memory/token-counts.ts';

it.each<[(JsonObject | null)[], number | null, number | null]>([
  [[{ prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }], 5, 2],
  [[{ input_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 1, output_tokens: 2 }], 106, 2],
  [[{ promptTokenCount: 5, candidatesTokenCount: 2, thoughtsTokenCount: 3 }], 5, 5],
  [
    [
      { prompt_tokens: 5, completion_tokens: 2 },
      { prompt_tokens: 6, completion_tokens: 3 },
    ],
    11,
    5,
  ],
  [[{ prompt_tokens: 5 }, { completion_tokens: 3 }], null, null],
  [[{ prompt_tokens: 5, completion_tokens: 1 }, null], null, null],
  [[{ prompt_tokens: -1, completion_tokens: '7' }], null, null],
  [[], null, null],
])('counts the tokens of %j', (usage, inputTokens, outputTokens) => {
  expect(countTokens(usage)).toEqual({ inputTokens, outputTokens });
});

it.each<[JsonObject | JsonObject[], JsonObject | null]>([
  [{ usage: { prompt_tokens: 1 } }, { prompt_tokens: 1 }],
  [{ message: { usage: { input_tokens: 1 } } }, { input_tokens: 1 }],
  [{ response: { usage: { input_tokens: 1 } } }, { input_tokens: 1 }],
  [[{ usageMetadata: { promptTokenCount: 1 } }, { usageMetadata: { promptTokenCount: 2 } }], { promptTokenCount: 2 }],
  [{ usage: null }, null],
])('finds the usage in %j', (value, usage) => {
  expect(usageIn(value)).toEqual(usage);
});
