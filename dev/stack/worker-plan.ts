import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PartPlan, programPath } from './part.ts';
import { findFreePort, HOST } from './ports.ts';
import type { Environment, StackSettings } from './settings.ts';

interface WorkerPlanOptions {
  env: Environment;
  settings: StackSettings;
  variables: Record<string, string>;
  /** The worker's first module, when it is not the gateway. */
  entry: string | undefined;
}

const healthUrl = (settings: StackSettings): string => `http://${HOST}:${settings.PORT}/healthz`;

/** The worker in workerd, by Miniflare. The variables stay out of every list of processes. */
export const planMiniflare = ({ env, settings, variables, entry }: WorkerPlanOptions): PartPlan => ({
  name: 'worker',
  command: [programPath('dev/worker.ts')],
  env: {
    ...env,
    PORT: String(settings.PORT),
    WORKER_VARIABLES: JSON.stringify(variables),
    WORKER_ENTRY: entry,
    RATE_LIMIT_REQUESTS: settings.RATE_LIMIT_REQUESTS,
  },
  readyUrl: healthUrl(settings),
});

/** One line of a .env file, in which quotes end at their like and wrangler puts a variable's value in place of its `$NAME`. */
function envLine([name, value]: [string, string]): string {
  const quote = ["'", '`', '"'].find((candidate) => !value.includes(candidate));
  if (quote === undefined || /[\r\n]/.test(value))
    throw new Error(`${name} cannot be told to wrangler: it holds every kind of quote or a line break`);
  return `${name}=${quote}${value.replaceAll('$', '\\$')}${quote}`;
}

/** The worker under `wrangler dev`, which loads it anew when its code changes. */
export async function planWrangler({ env, settings, variables, entry }: WorkerPlanOptions): Promise<PartPlan> {
  const folder = join(settings.DATA_DIR, 'wrangler');
  const variablesFile = join(folder, 'variables.env');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(variablesFile, Object.entries(variables).map(envLine).join('\n'), { mode: 0o600 });
  const where = ['--ip', HOST, '--port', String(settings.PORT), '--inspector-ip', HOST, '--inspector-port', String(await findFreePort())];
  const files = ['--config', programPath('wrangler.toml'), '--env-file', variablesFile, '--persist-to', folder];
  return {
    name: 'wrangler',
    command: [
      programPath('node_modules/wrangler/bin/wrangler.js'),
      'dev',
      ...(entry === undefined ? [] : [entry]),
      ...where,
      ...files,
      '--show-interactive-dev-session=false',
    ],
    env: { ...env, CI: '1', WRANGLER_SEND_METRICS: 'false', NO_COLOR: '1' },
    readyUrl: healthUrl(settings),
  };
}
