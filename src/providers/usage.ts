import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

function add(left: JsonValue | undefined, right: JsonValue): JsonValue {
  if (typeof left === 'number' && typeof right === 'number') return left + right;
  if (isJsonObject(left) && isJsonObject(right)) return addObjects(left, right);
  return right ?? left ?? null;
}

function addObjects(left: JsonObject, right: JsonObject): JsonObject {
  const sum = { ...left };
  for (const [key, value] of Object.entries(right)) sum[key] = add(left[key], value);
  return sum;
}

/** The usage of several rounds as one: numbers are added at every level, everything else is the last one's. */
export function sumUsage(usages: readonly (JsonObject | undefined)[]): JsonObject | undefined {
  return usages.reduce((sum, usage) => (sum && usage ? addObjects(sum, usage) : (usage ?? sum)), undefined);
}
