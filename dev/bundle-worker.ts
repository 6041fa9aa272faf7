import { join } from 'node:path';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '..');

/** What wrangler.toml says too; Miniflare and the benchmarks do not read that file. */
export const COMPATIBILITY_DATE = '2026-11-01';
export const COMPATIBILITY_FLAGS = ['enable_request_signal'];

/**
 * Bundles a worker into one ES module for workerd. Rejects with esbuild's messages, also when the code imports a module of Node,
 * which the worker does not have.
 */
export async function bundleWorker(entry: string = join(ROOT, 'src', 'index.ts'), minify = false): Promise<string> {
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
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error(`esbuild made nothing of ${entry}`);
  return file.text;
}
