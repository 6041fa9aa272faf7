import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { COMPATIBILITY_DATE, COMPATIBILITY_FLAGS, type WorkerBundle } from '../dev/bundle-worker.ts';

const WORKERD = join(import.meta.dirname, '..', 'node_modules', '.bin', 'workerd');
const START_TIMEOUT_MS = 30_000;

export interface WorkerSpec {
  name: string;
  /** The worker; its WebAssembly modules have names that no other worker beside it uses. */
  bundle: WorkerBundle;
  variables: Record<string, string>;
}

export interface Workerd {
  /** Base URL of each worker, by its name. */
  urls: Record<string, string>;
  stop(): Promise<void>;
}

// Cap'n Proto's text literals have C's escapes, which JSON's are as long as the text is ASCII.
const text = (value: string): string => JSON.stringify(value);

function workerConfig({ name, bundle, variables }: WorkerSpec): string {
  const bindings = Object.entries(variables).map(([variable, value]) => `(name = ${text(variable)}, text = ${text(value)})`);
  const code = `(name = ${text(`${name}.js`)}, esModule = embed ${text(`${name}.js`)})`;
  const wasm = Object.keys(bundle.wasm).map((file) => `(name = ${text(file)}, wasm = embed ${text(file)})`);
  const modules = [code, ...wasm].join(', ');
  const flags = COMPATIBILITY_FLAGS.map(text).join(', ');
  const worker = `(modules = [${modules}], compatibilityDate = ${text(COMPATIBILITY_DATE)}, compatibilityFlags = [${flags}], bindings = [${bindings.join(', ')}])`;
  return `(name = ${text(name)}, worker = ${worker})`;
}

const socketConfig = ({ name }: WorkerSpec): string =>
  `(name = ${text(name)}, address = "127.0.0.1:0", http = (), service = ${text(name)})`;

const configOf = (workers: readonly WorkerSpec[]): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "internet", network = (allow = ["public", "private"])),
    ${workers.map(workerConfig).join(',\n    ')}
  ],
  sockets = [${workers.map(socketConfig).join(', ')}]
);
`;

/**
 * Runs workers side by side in one `workerd serve`, which may reach addresses of this machine; their files go to `folder`. Resolves when
 * all of them listen.
 */
export async function startWorkerd(workers: readonly WorkerSpec[], folder: string, options: readonly string[] = []): Promise<Workerd> {
  for (const { name, bundle } of workers) {
    writeFileSync(join(folder, `${name}.js`), bundle.code);
    for (const [file, bytes] of Object.entries(bundle.wasm)) writeFileSync(join(folder, file), bytes);
  }
  const config = join(folder, 'config.capnp');
  writeFileSync(config, configOf(workers));
  const child = spawn(WORKERD, ['serve', '--control-fd=3', ...options, config], { stdio: ['ignore', 'ignore', 'inherit', 'pipe'] });
  const exited = once(child, 'exit');
  const urls: Record<string, string> = {};
  const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
  for await (const line of createInterface(child.stdio[3] as Readable)) {
    const event = JSON.parse(line) as { event: string; socket: string; port: number };
    if (event.event === 'listen') urls[event.socket] = `http://127.0.0.1:${event.port}`;
    if (workers.every(({ name }) => name in urls)) break;
  }
  clearTimeout(timer);
  if (!workers.every(({ name }) => name in urls)) throw new Error('workerd did not start');
  return {
    urls,
    async stop() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
