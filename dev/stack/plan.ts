import { createHash } from 'node:crypto';
import { hasProvider, workerVariables } from './bindings.ts';
import { type PartPlan, programPath } from './part.ts';
import { findFreePort, HOST } from './ports.ts';
import type { Environment, StackSettings } from './settings.ts';

/** What is to be started, and where it will listen. */
export interface StackPlan {
  url: string;
  /** The database for the migrations. */
  database: { url: string; authToken?: string };
  /** Whether the scripted model answers, since no provider is configured. */
  isScripted: boolean;
  /** Parts that the worker needs, in any order. */
  backends: PartPlan[];
  /** Variables of the worker. */
  variables: Record<string, string>;
}

export interface Secrets {
  managementToken: string;
  sandboxSecret: string;
}

const SANDBOX_HOST_VARIABLE = /^(PATH|HOME|TMPDIR|SANDBOX_.*|BROWSER_.*|SKILLS_.*)$/;

/** What a sandbox-host may know of our environment: nothing that a provider or the management is asked with. */
function sandboxHostEnvironment(env: Environment, settings: StackSettings, secret: string): Environment {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => SANDBOX_HOST_VARIABLE.test(name)));
  const folder = createHash('sha256').update(settings.DATA_DIR).digest('hex').slice(0, 12);
  return {
    // The next start in the same folder finds the containers of a host that was killed.
    SANDBOX_HOST_ID: `stack-${folder}`,
    ...own,
    // The set-up has said so when it is an address that no sandbox-host can talk to.
    DOCKER_HOST: env.DOCKER_HOST?.startsWith('unix://') ? env.DOCKER_HOST : undefined,
    SANDBOX_PORT: String(settings.SANDBOX_PORT),
    SANDBOX_SECRET: secret,
  };
}

/** The scripted model in each of its formats; that of OpenAI has chat and responses. */
const scriptedProviders = (url: string) => {
  const models = ['scripted-demo', 'scripted-*'];
  return [
    { name: 'scripted', format: 'openai', baseUrl: `${url}/v1`, models },
    { name: 'scripted-anthropic', format: 'anthropic', baseUrl: url, models },
    { name: 'scripted-gemini', format: 'gemini', baseUrl: url, models },
  ];
};

/** Decides about the parts of a stack: whatever the environment names is used, everything else is our own. */
export async function planStack(env: Environment, settings: StackSettings, secrets: Secrets): Promise<StackPlan> {
  const libsqlUrl = settings.LIBSQL_URL ?? `http://${HOST}:${settings.LIBSQL_PORT}`;
  const sandboxUrl = `http://${HOST}:${settings.SANDBOX_PORT}`;
  const backends: PartPlan[] = [];
  const variables: Record<string, string> = {
    ...workerVariables(env),
    LIBSQL_URL: libsqlUrl,
    MANAGEMENT_TOKEN: secrets.managementToken,
    SANDBOX_SECRET: secrets.sandboxSecret,
  };
  if (settings.LIBSQL_URL === undefined) {
    backends.push({
      name: 'libsql',
      command: [programPath('dev/libsql-server.ts')],
      env: { ...env, LIBSQL_PORT: String(settings.LIBSQL_PORT), DATA_DIR: settings.DATA_DIR },
      readyUrl: libsqlUrl,
    });
  }
  if (settings.SANDBOX_POOLS === undefined) {
    variables.SANDBOX_POOLS = JSON.stringify([{ name: 'local', urls: [sandboxUrl] }]);
    backends.push({
      name: 'sandbox-host',
      command: [programPath('sandbox-host/start.mjs')],
      env: sandboxHostEnvironment(env, settings, secrets.sandboxSecret),
      readyUrl: `${sandboxUrl}/healthz`,
    });
  }
  const isScripted = !hasProvider(env);
  if (isScripted) {
    const port = await findFreePort();
    const baseUrl = `http://${HOST}:${port}`;
    variables.PROVIDERS = JSON.stringify(scriptedProviders(baseUrl));
    backends.push({
      name: 'scripted-model',
      command: [programPath('dev/scripted-model.ts')],
      env: { ...env, SCRIPTED_MODEL_PORT: String(port) },
      readyUrl: `${baseUrl}/v1/models`,
    });
  }
  const authToken = settings.LIBSQL_AUTH_TOKEN;
  return {
    url: `http://${HOST}:${settings.PORT}`,
    database: { url: libsqlUrl, ...(authToken === undefined ? {} : { authToken }) },
    isScripted,
    backends,
    variables,
  };
}
