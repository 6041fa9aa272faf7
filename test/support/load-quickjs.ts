import { readFile } from 'node:fs/promises';

const WASM_FILE = new URL('../../src/quickjs/generated/quickjs.wasm', import.meta.url);

let compiled: Promise<WebAssembly.Module> | undefined;

/** The engine of the worker, compiled here as workerd does it there. */
export function loadQuickJs(): Promise<WebAssembly.Module> {
  compiled ??= readFile(WASM_FILE).then((bytes) => WebAssembly.compile(bytes));
  return compiled;
}
