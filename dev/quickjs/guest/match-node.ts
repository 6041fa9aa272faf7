import type { Host } from '../../../src/quickjs/guest.ts';

/** Globals of Node 22 that QuickJS lacks, or has in a form that a program could tell from Node's. */
const LEFT_TO_NODE = `AbortController AbortSignal Atomics Blob BroadcastChannel Buffer ByteLengthQueuingStrategy CompressionStream
CountQueuingStrategy Crypto CryptoKey CustomEvent DOMException DecompressionStream Event EventTarget File FormData Headers Intl
MessageChannel MessageEvent MessagePort Navigator Performance PerformanceEntry PerformanceMark PerformanceMeasure PerformanceObserver
PerformanceObserverEntryList PerformanceResourceTiming ReadableByteStreamController ReadableStream ReadableStreamBYOBReader
ReadableStreamBYOBRequest ReadableStreamDefaultController ReadableStreamDefaultReader Request Response SharedArrayBuffer SubtleCrypto
TextDecoder TextDecoderStream TextEncoder TextEncoderStream TransformStream TransformStreamDefaultController URL URLSearchParams
WebAssembly WebSocket WritableStream WritableStreamDefaultController WritableStreamDefaultWriter __dirname __filename atob btoa
clearImmediate clearInterval clearTimeout crypto exports fetch module navigator performance require setImmediate setInterval setTimeout
structuredClone`.split(/\s+/);

/** What QuickJS has and Node 22 has not. */
const NEWER_THAN_NODE: readonly [object, readonly string[]][] = [
  [globalThis, ['InternalError', 'Float16Array']],
  [ArrayBuffer.prototype, ['immutable', 'sliceToImmutable', 'transferToImmutable']],
  [DataView.prototype, ['getFloat16', 'setFloat16']],
  [Error, ['isError']],
  [Function.prototype, ['columnNumber', 'fileName', 'lineNumber']],
  [Iterator, ['concat', 'zip', 'zipKeyed']],
  [Map.prototype, ['getOrInsert', 'getOrInsertComputed']],
  [WeakMap.prototype, ['getOrInsert', 'getOrInsertComputed']],
  [Math, ['f16round', 'sumPrecise']],
  [Promise, ['try']],
  [RegExp, ['escape']],
];

const LAST_MATCH = ['$&', "$'", '$+', '$_', '$`', '$1', '$2', '$3', '$4', '$5', '$6', '$7', '$8', '$9'];
const LAST_MATCH_NAMES = ['input', 'lastMatch', 'lastParen', 'leftContext', 'rightContext'];

/** Properties that depend on a locale or that QuickJS lacks. */
const PROPERTIES_LEFT_TO_NODE: readonly [string, object, readonly string[]][] = [
  ['Array.prototype', Array.prototype, ['toLocaleString']],
  ['TypedArray.prototype', Object.getPrototypeOf(Uint8Array.prototype), ['toLocaleString']],
  ['BigInt.prototype', BigInt.prototype, ['toLocaleString']],
  ['Number.prototype', Number.prototype, ['toLocaleString']],
  ['Date.prototype', Date.prototype, ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']],
  ['String.prototype', String.prototype, ['localeCompare', 'toLocaleLowerCase', 'toLocaleUpperCase']],
  ['JSON', JSON, ['isRawJSON', 'rawJSON']],
  ['RegExp', RegExp, [...LAST_MATCH, ...LAST_MATCH_NAMES]],
  ['Symbol', Symbol, ['asyncDispose', 'dispose']],
];

/**
 * Takes away what would let a program see that it does not run in Node. What Node has and QuickJS has not ends the run when it is
 * touched, be it by `typeof`, so that no program takes another way here than it would there.
 */
export function matchNode(host: Host): void {
  const leave = (owner: object, key: string, what: string) =>
    Object.defineProperty(owner, key, { get: () => host.needNode(what), set: () => host.needNode(what), configurable: true });
  for (const name of LEFT_TO_NODE) {
    // Assigning to such a global is no use of it: the program brings its own.
    Object.defineProperty(globalThis, name, {
      get: () => host.needNode(name),
      set: (value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: true }),
      configurable: true,
    });
  }
  for (const [owner, names] of NEWER_THAN_NODE) for (const name of names) Reflect.deleteProperty(owner, name);
  for (const [path, owner, names] of PROPERTIES_LEFT_TO_NODE) for (const name of names) leave(owner, name, `${path}.${name}`);
  nameTimeZone();
}

/** The container's clock is UTC, and Node adds its long name. */
function nameTimeZone(): void {
  for (const name of ['toString', 'toTimeString'] as const) {
    const original = Date.prototype[name];
    const { [name]: named } = {
      [name](this: Date) {
        const text = original.call(this);
        return text === 'Invalid Date' ? text : `${text} (Coordinated Universal Time)`;
      },
    };
    Object.defineProperty(Date.prototype, name, { value: named, writable: true, configurable: true });
  }
}
