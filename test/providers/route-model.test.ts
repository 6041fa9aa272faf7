import { describe, expect, it } from 'vitest';
import type { ProviderConfig } from '../../src/env.ts';
import { findRoute, routeModel } from '../../src/providers/route-model.ts';

const provider = (name: string, format: ProviderConfig['format'], models: string[] = []): ProviderConfig => ({
  name,
  format,
  baseUrl: `https://${name}.example`,
  apiKey: undefined,
  models,
});
const providers = [
  provider('listed', 'openai', ['llama-*', 'qwen']),
  provider('main', 'openai'),
  provider('other', 'openai'),
  provider('native', 'openai-responses', ['o9']),
  provider('claude', 'anthropic', ['claude-*']),
];

describe('routeModel', () => {
  it.each<[string, ProviderConfig['format'], string, string]>([
    ['gpt-x', 'openai', 'main', 'gpt-x'],
    ['other/gpt-x', 'openai', 'other', 'gpt-x'],
    ['llama-5', 'openai', 'listed', 'llama-5'],
    ['qwen', 'openai', 'listed', 'qwen'],
    ['qwen-2', 'openai', 'main', 'qwen-2'],
    ['listed/anything', 'openai', 'listed', 'anything'],
    ['meta/llama-5', 'openai', 'main', 'meta/llama-5'],
    ['other/meta/llama', 'openai', 'other', 'meta/llama'],
    ['/x', 'openai', 'main', '/x'],
    ['o9', 'openai-responses', 'native', 'o9'],
    ['gpt-x', 'openai-responses', 'main', 'gpt-x'],
    ['claude-x', 'anthropic', 'claude', 'claude-x'],
  ])('%s in %s goes to %s as %s', (model, format, name, asked) => {
    const route = routeModel(providers, format, model);
    expect([route.provider.name, route.model]).toEqual([name, asked]);
  });

  it.each<[string, ProviderConfig['format']]>([
    ['gpt-x', 'anthropic'],
    ['main/gpt-x', 'anthropic'],
    ['claude/gpt-x', 'openai'],
    ['o9', 'gemini'],
  ])('%s in %s is not known', (model, format) => {
    expect(findRoute(providers, format, model)).toBeUndefined();
    expect(() => routeModel(providers, format, model)).toThrow(
      expect.objectContaining({ code: 'model_not_found', message: `No provider is configured for the model ${model}` }),
    );
  });
});
