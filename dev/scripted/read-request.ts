import { isJsonObject, type JsonObject } from '../../src/json.ts';
import { Refusal } from './refusal.ts';

export const MODELS = ['scripted-demo', 'scripted-test'];

/** The body of a request. Throws a Refusal when it is not a JSON object. */
export async function readRequest(request: Request): Promise<JsonObject> {
  const body: unknown = await request.json().catch(() => undefined);
  if (!isJsonObject(body)) throw new Refusal(400, 'The body is not a JSON object', 'invalid_json');
  return body;
}

/** Throws a Refusal when no model has that name. Any name that begins with `scripted-` will do. */
export function assertModel(model: unknown): asserts model is string {
  if (typeof model !== 'string' || !model.startsWith('scripted-')) {
    throw new Refusal(404, `No model named ${String(model)}`, 'model_not_found');
  }
}
