import type { JsonObject, JsonValue } from '../../src/json.ts';
import { Refusal } from './refusal.ts';

/** A rule of a provider. Returns the sentence that a request is refused with, undefined when it keeps the rule. */
export type Rule = (request: JsonObject) => string | undefined;

/** Throws a Refusal for the first rule that the request breaks. */
export function enforceRules(rules: readonly Rule[], request: JsonObject): void {
  for (const rule of rules) {
    const fault = rule(request);
    if (fault !== undefined) throw new Refusal(400, fault);
  }
}

/** The first fault that is found in the items of a list. */
export function firstFault<T>(items: readonly T[], faultOf: (item: T, index: number) => string | undefined): string | undefined {
  for (const [index, item] of items.entries()) {
    const fault = faultOf(item, index);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

export const firstRepeated = <T>(values: readonly T[]): T | undefined =>
  values.find((value, index) => value !== undefined && values.indexOf(value) !== index);

/** Whether the value is a list without anything in it, which some providers do not take. */
export const isEmptyList = (value: JsonValue | undefined): boolean => Array.isArray(value) && value.length === 0;
