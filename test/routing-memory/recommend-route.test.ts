import { describe, expect, it } from 'vitest';
import { defaultRoute } from '../../src/routing-memory/default-route.ts';
import { recommendRoute } from '../../src/routing-memory/recommend-route.ts';
import type { RoutingOutcome } from '../../src/routing-memory/routing-memory-store.ts';

const outcome = (model: string, words: string, more: Partial<RoutingOutcome> = {}): RoutingOutcome => ({
  provider: 'p',
  model,
  skills: [],
  success: true,
  latencyMs: 100,
  inputTokens: 50,
  outputTokens: 50,
  digest: words.split(' '),
  createdAt: '2026-01-01T00:00:00.000Z',
  ...more,
});
const fallback = { provider: 'p', model: 'default' };
const ask = (words: string, found: RoutingOutcome[], more: { neededTokens?: number; total?: number } = {}) =>
  recommendRoute({
    words: words.split(' '),
    found,
    total: more.total ?? found.length,
    isConfigured: (name) => name === 'p',
    neededTokens: more.neededTokens,
    fallback,
  });
const many = (count: number, make: () => RoutingOutcome) => Array.from({ length: count }, make);

describe('recommendRoute', () => {
  it('says that there is no memory, and names the default', () => {
    expect(ask('translate', [])).toEqual({
      provider: 'p',
      model: 'default',
      basis: 'default',
      reason: 'Nothing is remembered of this key yet. The default is p/default.',
      evidence: { remembered: 0, similar: 0, candidates: [], requests: [] },
    });
  });

  it('says that nothing is similar', () => {
    const { basis, reason } = ask('translate german contract lawyer court', [outcome('a', 'court tennis'), outcome('a', 'tennis court')], {
      total: 9,
    });
    expect([basis, reason]).toEqual([
      'default',
      'None of the 9 requests that are remembered of this key is similar. The default is p/default.',
    ]);
  });

  it('takes what succeeded over what failed', () => {
    const found = [
      ...many(3, () => outcome('bad', 'translate contract', { success: false })),
      ...many(3, () => outcome('good', 'translate contract')),
    ];
    const { model, basis, reason, evidence } = ask('translate contract', found);
    expect([model, basis]).toEqual(['good', 'memory']);
    expect(reason).toBe(
      'p/good: 3 of 3 similar requests succeeded, 100 ms on average, 100 tokens on average; it ranks before 1 other model.',
    );
    expect(evidence.candidates.map(({ model: name, requests, successes }) => [name, requests, successes])).toEqual([
      ['good', 3, 3],
      ['bad', 3, 0],
    ]);
    expect(evidence.requests).toHaveLength(6);
    expect(evidence.requests[0]).not.toHaveProperty('digest');
  });

  it('takes the faster, and the thriftier, of two that succeed alike', () => {
    expect(
      ask('sort list', [outcome('slow', 'sort list', { latencyMs: 900 }), outcome('fast', 'sort list', { latencyMs: 90 })]).model,
    ).toBe('fast');
    expect(ask('sort list', [outcome('big', 'sort list', { outputTokens: 5_000 }), outcome('small', 'sort list')]).model).toBe('small');
  });

  it('does not let one success beat a long record', () => {
    expect(ask('sort list', [outcome('new', 'sort list'), ...many(20, () => outcome('old', 'sort list'))]).model).toBe('old');
  });

  it('takes the one that did what is most similar', () => {
    const found = [...many(4, () => outcome('other', 'translate menu')), ...many(4, () => outcome('same', 'translate german contract'))];
    expect(ask('translate german contract', found).model).toBe('same');
  });

  it('recommends nothing that has only failed', () => {
    const { model, reason } = ask(
      'sort',
      many(2, () => outcome('bad', 'sort', { success: false })),
    );
    expect([model, reason]).toEqual(['default', 'All 2 similar requests failed. The default is p/default.']);
  });

  it('recommends no provider that is gone', () => {
    expect(ask('sort', [outcome('a', 'sort', { provider: 'gone' })]).basis).toBe('default');
  });

  it('takes a model that is known to cope with the context', () => {
    const found = [...many(5, () => outcome('short', 'sort list')), outcome('long', 'sort list', { inputTokens: 9_000 })];
    expect(ask('sort list', found).model).toBe('short');
    expect(ask('sort list', found, { neededTokens: 8_000 }).model).toBe('long');
    const { model, reason } = ask('sort list', found, { neededTokens: 10_000 });
    expect(model).toBe('short');
    expect(reason).toContain(' No model is known to have handled 10000 tokens of input.');
  });

  it('tells no more than the words that the task has itself', () => {
    const { evidence } = ask('sort list', [outcome('a', 'sort list payroll redundancies')]);
    expect(evidence.requests[0]?.sharedWords).toEqual(['sort', 'list']);
    expect(JSON.stringify(evidence)).not.toContain('payroll');
  });

  it('is the same for the same memory, whatever its order among equals', () => {
    const found = [outcome('b', 'sort'), outcome('a', 'sort')];
    expect(ask('sort', found).model).toBe('a');
    expect(ask('sort', [...found].reverse()).model).toBe('a');
  });

  it('copes with what is not known', () => {
    const nothing = { latencyMs: null, inputTokens: null, outputTokens: null };
    const { reason, evidence } = ask('sort', [outcome('a', 'sort', nothing)]);
    expect(reason).toBe('p/a: 1 of 1 similar request succeeded; no other model was asked anything similar.');
    expect(evidence.candidates[0]).toMatchObject({ latencyMs: null, tokens: null, largestInputTokens: null });
  });
});

describe('defaultRoute', () => {
  const provider = (name: string, models: string[]) => ({
    name,
    format: 'openai' as const,
    baseUrl: 'https://x.example',
    apiKey: undefined,
    models,
  });
  it.each([
    [[], [], undefined],
    [[provider('a', [])], [], { provider: 'a', model: null }],
    [[provider('a', ['gpt-*']), provider('b', ['m'])], [], { provider: 'b', model: 'm' }],
    [[provider('a', ['x']), provider('b', ['m'])], ['b/z'], { provider: 'b', model: 'z' }],
    [[provider('a', ['x'])], ['gone/z', 'x'], { provider: 'a', model: 'x' }],
  ])('of %j with the fallbacks %j is %j', (providers, fallbacks, route) => {
    expect(defaultRoute(providers, fallbacks)).toEqual(route);
  });
});
