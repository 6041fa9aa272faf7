import type { ProviderConfig, WireFormat } from '../env.ts';
import { AppError } from '../errors.ts';

export interface ModelRoute {
  provider: ProviderConfig;
  /** The model's name as the provider knows it. */
  model: string;
}

const matches = (pattern: string, model: string): boolean =>
  pattern.endsWith('*') ? model.startsWith(pattern.slice(0, -1)) : pattern === model;

/** OpenAI's own interface, and many that are compatible with it, has chat and responses under one base URL. */
export const speaksFormat = (provider: ProviderConfig, format: WireFormat): boolean =>
  provider.format === format || (provider.format === 'openai' && format === 'openai-responses');

/**
 * The provider that a model is asked from: `name/model` picks the provider of that name, a model that a provider lists goes there, and
 * everything else goes to the first provider of the format that lists none; undefined when there is none.
 */
export function findRoute(providers: readonly ProviderConfig[], format: WireFormat, model: string): ModelRoute | undefined {
  const candidates = providers.filter((provider) => speaksFormat(provider, format));
  const slash = model.indexOf('/');
  const named = providers.filter((provider) => slash > 0 && provider.name === model.slice(0, slash));
  const [spoken] = named.filter((provider) => candidates.includes(provider));
  if (spoken) return { provider: spoken, model: model.slice(slash + 1) };
  // A provider that is named but speaks another format is not replaced by one that happens to speak this one.
  if (named.length > 0) return undefined;
  const listing = candidates.find((provider) => provider.models.some((pattern) => matches(pattern, model)));
  const provider = listing ?? candidates.find(({ models }) => models.length === 0);
  return provider && { provider, model };
}

/** As `findRoute`, for a model that a client asks for. Throws `model_not_found`. */
export function routeModel(providers: readonly ProviderConfig[], format: WireFormat, model: string): ModelRoute {
  const route = findRoute(providers, format, model);
  if (route === undefined) throw new AppError('model_not_found', `No provider is configured for the model ${model.slice(0, 200)}`);
  return route;
}
