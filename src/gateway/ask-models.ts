import type { ProviderConfig, WireFormat } from '../env.ts';
import { configuredModels, modelListHeaders, modelListPath, readModelNames } from '../providers/list-models.ts';
import { speaksFormat } from '../providers/route-model.ts';
import { readJsonReply, upstreamHeaders } from './upstream.ts';

const LIST_TIMEOUT_MS = 5_000;

/** The names of a provider's models: as configured, else as it lists them itself; none when it does not answer well in time. */
async function namesOf(fetch: typeof globalThis.fetch, provider: ProviderConfig): Promise<string[]> {
  const configured = configuredModels(provider);
  if (configured !== undefined) return configured;
  const signal = AbortSignal.timeout(LIST_TIMEOUT_MS);
  try {
    const url = `${provider.baseUrl}${modelListPath(provider.format)}`;
    const headers = upstreamHeaders(provider, modelListHeaders(provider.format));
    return readModelNames(provider.format, await readJsonReply(await fetch(url, { headers, redirect: 'manual', signal }), signal));
  } catch {
    return [];
  }
}

/** Every model that can be asked in a format, under the name that picks its provider. */
export async function askModels(
  fetch: typeof globalThis.fetch,
  providers: readonly ProviderConfig[],
  format: WireFormat,
): Promise<{ id: string; owner: string }[]> {
  const speaking = providers.filter((provider) => speaksFormat(provider, format));
  // Models of the first provider that lists none go there without its name in front, and so do those that a provider lists.
  const first = speaking.find(({ models }) => models.length === 0);
  const lists = await Promise.all(
    speaking.map(async (provider) => {
      const isPlain = provider === first || provider.models.length > 0;
      return (await namesOf(fetch, provider)).map((name) => ({ id: isPlain ? name : `${provider.name}/${name}`, owner: provider.name }));
    }),
  );
  return lists.flat();
}
