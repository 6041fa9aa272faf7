import type { ProviderConfig, WireFormat } from '../env.ts';
import { isJsonObject, type JsonObject, objectsOf } from '../json.ts';

interface ModelListing {
  /** Behind the provider's base URL. */
  path: string;
  /** What the provider wants to be told with every request. */
  headers?: Record<string, string>;
  nameOf(model: JsonObject): unknown;
}

/** Where a provider of the format lists its models, and how a model is named there. */
const LISTS: Readonly<Record<WireFormat, ModelListing>> = {
  openai: { path: '/models', nameOf: (model) => model.id },
  'openai-responses': { path: '/models', nameOf: (model) => model.id },
  anthropic: { path: '/v1/models?limit=1000', headers: { 'anthropic-version': '2023-06-01' }, nameOf: (model) => model.id },
  gemini: { path: '/v1beta/models?pageSize=1000', nameOf: (model) => String(model.name ?? '').replace(/^models\//, '') },
};

export const modelListPath = (format: WireFormat): string => LISTS[format].path;

export const modelListHeaders = (format: WireFormat): Headers => new Headers(LISTS[format].headers);

/** The names in a provider's own list; none when it is not one. */
export function readModelNames(format: WireFormat, body: unknown): string[] {
  if (!isJsonObject(body)) return [];
  const names = objectsOf(body.data ?? body.models).map(LISTS[format].nameOf);
  return names.filter((name): name is string => typeof name === 'string' && name !== '');
}

/** The models that a provider's configuration names in full; undefined when it names none, so that the provider itself has to be asked. */
export const configuredModels = ({ models }: ProviderConfig): string[] | undefined =>
  models.length === 0 ? undefined : models.filter((model) => !model.endsWith('*'));

/** A list of models as the SDK of the format reads it. */
export function modelList(format: WireFormat, models: readonly { id: string; owner: string }[]): JsonObject {
  switch (format) {
    case 'openai':
    case 'openai-responses':
      return { object: 'list', data: models.map(({ id, owner }) => ({ id, object: 'model', created: 0, owned_by: owner })) };
    case 'anthropic': {
      const data = models.map(({ id }) => ({ type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' }));
      return { data, has_more: false, first_id: models.at(0)?.id ?? null, last_id: models.at(-1)?.id ?? null };
    }
    case 'gemini':
      return {
        models: models.map(({ id }) => ({
          name: `models/${id}`,
          displayName: id,
          supportedGenerationMethods: ['generateContent', 'streamGenerateContent'],
        })),
      };
  }
}
