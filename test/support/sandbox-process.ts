import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../sandbox-host/main.ts', import.meta.url));

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port');
  return address.port;
}

export interface SandboxProcess {
  pid: number;
  url: string;
  lines: string[];
  signal(signal: NodeJS.Signals): void;
  /** Resolves with the exit code, null after a signal. */
  exited: Promise<number | null>;
}

/** Runs sandbox-host as a process of its own and waits until it is ready or has ended. */
export async function startSandboxProcess(variables: Record<string, string>): Promise<SandboxProcess> {
  const port = variables.SANDBOX_PORT ?? String(await freePort());
  const child = spawn(process.execPath, [MAIN], { env: { SANDBOX_PORT: port, ...variables }, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const lines: string[] = [];
  const ready = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        if (line.includes('sandbox.host.ready')) resolve();
      });
    }
  });
  await Promise.race([ready, once(child, 'close')]);
  return { pid: child.pid ?? 0, url: `http://127.0.0.1:${port}`, lines, signal: (signal) => child.kill(signal), exited };
}
