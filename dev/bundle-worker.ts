import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type Plugin } from 'esbuild';

const ROOT = join(import.meta.dirname, '..');

/** What wrangler.toml says too; Miniflare and the benchmarks do not read that file. */
export const COMPATIBILITY_DATE = '2026-11-01';
export const COMPATIBILITY_FLAGS = ['enable_request_signal'];

export interface WorkerBundle {
  /** One ES module. */
  code: string;
  /** The WebAssembly modules that it imports, by the name that they have beside it. */
  wasm: Record<string, Uint8Array<ArrayBuffer>>;
}

/** workerd compiles WebAssembly itself, so that it has to be a module of its own. */
const collectWasm = (wasm: WorkerBundle['wasm']): Plugin => ({
  name: 'WebAssembly',
  setup({ onResolve }) {
    onResolve({ filter: /\.wasm$/ }, ({ path, resolveDir }) => {
      const name = basename(path);
      wasm[name] = readFileSync(join(resolveDir, path));
      return { path: `./${name}`, external: true };
    });
  },
});

/**
 * Bundles a worker for workerd. Rejects with esbuild's messages, also when the code imports a module of Node,
 * which the worker does not have.
 */
export async function bundleWorker(entry: string = join(ROOT, 'src', 'index.ts'), minify = false): Promise<WorkerBundle> {
  const wasm: WorkerBundle['wasm'] = {};
  const { outputFiles } = await build({
    entryPoints: [entry],
    absWorkingDir: ROOT,
    bundle: true,
    minify,
    write: false,
    format: 'esm',
    target: 'es2024',
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*'],
    logLevel: 'silent',
    plugins: [collectWasm(wasm)],
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error(`esbuild made nothing of ${entry}`);
  return { code: file.text, wasm };
}
