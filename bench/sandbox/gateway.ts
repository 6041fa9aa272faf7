import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { z } from 'zod';
import { isolateEnvironment } from '../../dev/stack/isolated-environment.ts';
import { startStack } from '../../dev/stack.ts';
import { type BenchHost, connectHost } from './host.ts';
import { EXPECTED, type Program } from './programs.ts';

const answer = z.object({ execution: z.object({ status: z.string(), output: z.object({ stdout: z.string() }) }) });

export interface Gateway {
  /** The stack's own sandbox-host, as it is by default. */
  host: BenchHost;
  /** Runs a program by `POST /api/skills/executions`. Rejects when it does not print what it should. */
  execute(program: Program): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the stack of `npm start` on free ports. */
export async function startGateway(): Promise<Gateway> {
  const secret = randomUUID() + randomUUID();
  const isolated = await isolateEnvironment(process.env);
  const env = { ...isolated, SANDBOX_SECRET: secret };
  const stack = await startStack({ env, log: () => undefined });
  const headers = { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json' };
  return {
    host: connectHost(`http://127.0.0.1:${isolated.SANDBOX_PORT}`, secret),
    async execute({ skill }) {
      const response = await fetch(`${stack.url}/api/skills/executions`, { method: 'POST', headers, body: JSON.stringify(skill) });
      const text = await response.text();
      if (!response.ok) throw new Error(`The gateway answered ${response.status}: ${text}`);
      const parsed = answer.safeParse(JSON.parse(text));
      if (parsed.data?.execution.output.stdout !== EXPECTED) throw new Error(`An execution of ${skill.skillName} ended wrong: ${text}`);
    },
    async stop() {
      await stack.stop();
      rmSync(isolated.DATA_DIR, { recursive: true, force: true });
    },
  };
}
