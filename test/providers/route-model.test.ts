import { describe, expect, it } from 'vitest';
import type { ProviderConfig } from '../../src/env.ts';
import { findRoute, routeModel } from '../../src/providers/route-model.ts';

const provider = (name: string, format: ProviderConfig['format'], models: string[] = []): ProviderConfig => ({
  name,
  format,
  baseUrl: `https://${name}.test`,
  apiKey: undefined,
  models,
});
const providers = [
  provider('openai', 'openai'),
  provider('groq', 'openai', ['llama-*', 'exact']),
  provider('other', 'openai'),
  provider('claude', 'anthropic', ['claude-*']),
];

describe('routeModel', () => {
  it.each([
    ['gpt-5', 'openai', 'gpt-5'],
    ['groq/gpt-5', 'groq', 'gpt-5'],
    ['other/vendor/model', 'other', 'vendor/model'],
    ['vendor/model', 'openai', 'vendor/model'],
    ['llama-3', 'groq', 'llama-3'],
    ['exact', 'groq', 'exact'],
    ['exactly', 'openai', 'exactly'],
    ['/odd', 'openai', '/odd'],
  ])('sends %s to %s as %s', (asked, name, model) => {
    expect(routeModel(providers, 'openai', asked)).toMatchObject({ provider: { name }, model });
  });

  it('finds OpenAI’s responses beside its chat', () => {
    expect(routeModel(providers, 'openai-responses', 'gpt-5').provider.name).toBe('openai');
  });

  it('keeps formats apart, and says which model nobody has', () => {
    expect(routeModel(providers, 'anthropic', 'claude-4').provider.name).toBe('claude');
    expect(findRoute(providers, 'anthropic', 'groq/llama-3')).toBeUndefined();
    expect(() => routeModel(providers, 'anthropic', 'gpt-5')).toThrow('No provider is configured for the model gpt-5');
    expect(() => routeModel(providers, 'gemini', 'x')).toThrow(expect.objectContaining({ code: 'model_not_found' }));
  });
});
