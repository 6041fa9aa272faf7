import { type ProviderConfig, WIRE_FORMATS } from '../env.ts';
import { findRoute } from '../providers/route-model.ts';
import type { Route } from './recommend-route.ts';

/** The first of the setting `fallbackModels` that some provider has, else the first model that a provider names, else the first provider. */
export function defaultRoute(providers: readonly ProviderConfig[], fallbackModels: readonly string[]): Route | undefined {
  for (const name of fallbackModels) {
    for (const format of WIRE_FORMATS) {
      const route = findRoute(providers, format, name);
      if (route) return { provider: route.provider.name, model: route.model };
    }
  }
  const named = providers.flatMap(({ name, models }) =>
    models.filter((model) => !model.endsWith('*')).map((model) => ({ provider: name, model })),
  );
  const [first] = providers;
  return named[0] ?? (first && { provider: first.name, model: null });
}
