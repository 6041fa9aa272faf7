import { AppError } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

/** Puts together the arguments of a call that come in pieces. https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling */
export interface ArgumentFolder {
  /** Takes one entry of `partialArgs`. Throws an AppError when its path leads nowhere. */
  fold(partial: JsonObject): void;
  readonly args: JsonObject;
}

const MAX_DEPTH = 64;

const misleading = () => new AppError('upstream_invalid', 'The model provider streamed arguments that cannot be put together');

const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;

const unquote = (text: string): string => text.replace(/\\(.)/gs, '$1');

/** The steps of a JSON Path (RFC 9535) to a single place, such as `$.foo.bar[0]['data']`. */
function stepsOf(path: JsonValue | undefined): (string | number)[] {
  if (typeof path !== 'string' || !path.startsWith('$')) throw misleading();
  const steps: (string | number)[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < path.length) {
    const [, name, index, single, double] = STEP.exec(path) ?? [];
    const quoted = single ?? double;
    const step = index !== undefined ? Number(index) : (name ?? (quoted === undefined ? undefined : unquote(quoted)));
    if (step === undefined || steps.length === MAX_DEPTH) throw misleading();
    steps.push(step);
  }
  if (steps.length === 0) throw misleading();
  return steps;
}

function readValue(partial: JsonObject): JsonValue | undefined {
  if ('nullValue' in partial) return null;
  return partial.stringValue ?? partial.numberValue ?? partial.boolValue;
}

/** Assigns a property of any name, also those that mean something to JavaScript. */
const assign = (object: JsonObject, name: string, value: JsonValue) =>
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });

function read(container: JsonValue, step: string | number): JsonValue | undefined {
  if (typeof step === 'number') return Array.isArray(container) ? container[step] : undefined;
  return isJsonObject(container) && Object.hasOwn(container, step) ? container[step] : undefined;
}

function write(container: JsonValue, step: string | number, value: JsonValue): void {
  if (typeof step === 'number') {
    if (!Array.isArray(container) || step > container.length) throw misleading();
    container[step] = value;
  } else {
    if (!isJsonObject(container)) throw misleading();
    assign(container, step, value);
  }
}

/** `given`: arguments that came whole. */
export function createArgumentFolder(given: JsonObject): ArgumentFolder {
  const args = structuredClone(given);
  const unfinished = new Set<string>();

  function place(steps: readonly (string | number)[], value: JsonValue): void {
    let container: JsonValue = args;
    for (const [position, step] of steps.entries()) {
      const next = steps[position + 1];
      const before = read(container, step);
      if (next === undefined) {
        write(container, step, typeof value === 'string' && typeof before === 'string' ? before + value : value);
      } else if (before === undefined) {
        const inner: JsonValue = typeof next === 'number' ? [] : {};
        write(container, step, inner);
        container = inner;
      } else container = before;
    }
  }

  return {
    args,
    fold(partial) {
      const steps = stepsOf(partial.jsonPath);
      const path = JSON.stringify(steps);
      const value = readValue(partial);
      if (value !== undefined) {
        if (!unfinished.has(path)) place(steps, typeof value === 'string' ? null : value);
        place(steps, value);
      }
      if (partial.willContinue === true) unfinished.add(path);
      else unfinished.delete(path);
    },
  };
}
