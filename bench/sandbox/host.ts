import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { findFreePort } from '../../dev/stack/ports.ts';
import { HEALTH_PATH, RUNS_PATH, type RunResult, runResult } from '../../src/contract/runs.ts';
import { signRequest } from '../../src/sandbox/sign-request.ts';
import { EXPECTED, type Program } from './programs.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'sandbox-host', 'start.mjs');
const SETTLE_TIMEOUT_MS = 60_000;
const health = z.object({ running: z.number(), warm: z.object({ ready: z.number(), making: z.number(), target: z.number() }) });

export interface Answer {
  status: number;
  retryAfter: string | undefined;
  text: string;
}

/** A sandbox-host as its callers see it. */
export interface BenchHost {
  post(run: object): Promise<Answer>;
  /** Runs a program as the built-in skills do. Rejects when it does not print what it should. */
  run(program: Program, cpuLimit: number): Promise<RunResult>;
  /** Resolves when no run is left and everything that should be ready is. */
  settle(): Promise<void>;
}

const agent = new Agent({ keepAlive: true });

function send(url: string, method: string, headers: Record<string, string>, body: Uint8Array): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, agent, headers: { ...headers, 'content-length': body.length } }, async (response) => {
      try {
        let text = '';
        for await (const chunk of response.setEncoding('utf8')) text += chunk;
        resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], text });
      } catch (error) {
        reject(error);
      }
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export function connectHost(url: string, secret: string): BenchHost {
  async function post(run: object): Promise<Answer> {
    const body = new TextEncoder().encode(JSON.stringify({ id: randomUUID(), ...run }));
    const authorization = await signRequest({ method: 'POST', path: RUNS_PATH, body }, { secret, id: randomUUID(), now: Date.now() });
    return send(url + RUNS_PATH, 'POST', { authorization, 'content-type': 'application/json' }, body);
  }
  return {
    post,
    async run({ image, command, stdin }, cpuLimit) {
      const { status, text } = await post({ image, command, stdin, returnFiles: true, limits: { cpuLimit } });
      if (status !== 200) throw new Error(`The sandbox-host answered ${status}: ${text}`);
      const result = runResult.parse(JSON.parse(text));
      if (result.stdout !== EXPECTED || result.exitCode !== 0) throw new Error(`A run of ${image} ended wrong: ${text}`);
      return result;
    },
    async settle() {
      const until = Date.now() + SETTLE_TIMEOUT_MS;
      for (;;) {
        const { running, warm } = health.parse(JSON.parse((await send(url + HEALTH_PATH, 'GET', {}, new Uint8Array())).text));
        if (running === 0 && warm.making === 0 && warm.ready >= warm.target) return;
        if (Date.now() > until) throw new Error(`The sandbox-host at ${url} does not settle`);
        await sleep(20);
      }
    },
  };
}

export interface HostProcess extends BenchHost {
  /** The most memory that the process has held so far, in MiB. */
  peakMemoryMb(): number;
  stop(): Promise<void>;
}

/** Starts a sandbox-host of its own. */
export async function startHost(variables: Record<string, string>): Promise<HostProcess> {
  const port = await findFreePort();
  const secret = randomUUID() + randomUUID();
  const id = `bench-${randomUUID()}`;
  const env = { ...variables, PATH: process.env.PATH, SANDBOX_PORT: String(port), SANDBOX_SECRET: secret, SANDBOX_HOST_ID: id };
  const child: ChildProcess = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  await new Promise<void>((resolve, reject) => {
    if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => line.includes('sandbox.host.ready') && resolve());
    exited.then(() => reject(new Error('The sandbox-host ended while it started')), reject);
  });
  return {
    ...connectHost(`http://127.0.0.1:${port}`, secret),
    peakMemoryMb() {
      const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
      return Number(kibibytes) / 1_024;
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
