import { type JsonObject, objectsOf } from '../../src/json.ts';
import { type Check, failed, ok, warning } from './check.ts';
import type { Answer, Observations } from './observe.ts';

const SET_TOKEN = 'Set OMNIROUTE_TOKEN to the management token (MANAGEMENT_TOKEN of the gateway) or to an API key';

const codeOf = (answer: Answer<unknown>): string | undefined => ('error' in answer ? answer.error.reason.code : undefined);

/** Whether what is sent can be read on the way. */
function isPlainOverNetwork(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && hostname !== 'localhost' && hostname !== '[::1]' && !hostname.startsWith('127.');
}

function checkToken({ url, hasToken, settings, models }: Observations): Check {
  if (!hasToken) return failed('token', 'none is set', SET_TOKEN);
  // An API key is accepted here even where the management is not configured.
  if (codeOf(models) === 'unauthorized') return failed('token', 'the gateway does not know it', SET_TOKEN);
  if (isPlainOverNetwork(url)) return warning('token', 'it is sent where others can read it', 'Use the https address of the gateway');
  if ('value' in settings) return ok('token', 'it is valid, for the management');
  switch (settings.error.reason.code) {
    case 'forbidden':
      return ok('token', 'it is valid, as an API key: what only the management sees is not checked');
    case 'management_not_configured':
      return warning('token', 'the gateway has no management token', 'Set MANAGEMENT_TOKEN on the gateway and start it again');
    default:
      return warning('token', `it cannot be checked: ${settings.error.message}`, 'Mend what has failed and run this again');
  }
}

function checkDatabase({ database }: JsonObject): Check {
  if (database === 'ok') return ok('database', 'it answers');
  return failed(
    'database',
    'it cannot be used',
    'Check LIBSQL_URL and LIBSQL_AUTH_TOKEN of the gateway, and that npm run migrate has been run on it',
  );
}

/** The hosts that are not ready, each with its pool and status. */
function hostsInTrouble(pools: Answer<JsonObject>): string[] {
  if ('error' in pools) return [];
  return objectsOf(pools.value.pools).flatMap(({ name, hosts }) =>
    objectsOf(hosts)
      .filter(({ status }) => status !== 'ready')
      .map(({ url, status, missingImages }) => {
        const missing = Array.isArray(missingImages) && missingImages.length > 0 ? `, without ${missingImages.join(' and ')}` : '';
        return `${String(url)} of ${String(name)} is ${String(status).replace('_', ' ')}${missing}`;
      }),
  );
}

function checkSandbox({ sandbox }: JsonObject, pools: Answer<JsonObject>): Check {
  const troubled = hostsInTrouble(pools);
  switch (sandbox) {
    case 'ok':
      if (troubled.length === 0) return ok('sandbox', 'a host is ready');
      return warning('sandbox', troubled.join('; '), 'Look at GET /readyz of these hosts, or take them out of SANDBOX_POOLS');
    case 'not_configured':
      return warning(
        'sandbox',
        'no host is configured: eval_code and execute_command cannot run in containers',
        'Set SANDBOX_POOLS and SANDBOX_SECRET on the gateway',
      );
    default:
      return failed(
        'sandbox',
        'no host of any pool is ready',
        'Look at GET /readyz of the hosts in SANDBOX_POOLS: they must run, reach Docker and be reachable from the gateway',
      );
  }
}

function checkProviders(models: Answer<Record<string, number>>): Check {
  if ('error' in models) {
    if (models.error.reason.code === 'forbidden')
      return warning('providers', 'the API key lacks the scope chat', 'Use a key with that scope, or the management token');
    return warning('providers', `they cannot be checked: ${models.error.message}`, 'Mend what has failed and run this again');
  }
  const listed = Object.entries(models.value).filter(([, count]) => count > 0);
  if (listed.length === 0) {
    return failed(
      'providers',
      'none is configured, or none lists its models',
      'Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or PROVIDERS, on the gateway; where they are set, check the keys and base URLs',
    );
  }
  return ok('providers', listed.map(([client, count]) => `${count} ${count === 1 ? 'model' : 'models'} for ${client} clients`).join(', '));
}

const put = (change: string): string => `PUT /api/settings ${change}`;

function checkSkills({ skillsEnabled, customSkillExecutionEnabled }: JsonObject): Check {
  if (skillsEnabled === false) return failed('skills', 'they are switched off: nothing is offered or run', put('{"skillsEnabled": true}'));
  if (customSkillExecutionEnabled === false) {
    return warning('skills', 'only the built-in ones are offered and run', put('{"customSkillExecutionEnabled": true}'));
  }
  return ok('skills', 'they are switched on');
}

function checkEvalMode({ evalMode }: JsonObject, { sandbox }: JsonObject): Check {
  const message = `evalMode is ${String(evalMode)}`;
  if (sandbox === 'ok' || evalMode === 'direct') return ok('eval_code', message);
  if (evalMode === 'hybrid') return warning('eval_code', `${message}: what needs a container cannot run`, 'See sandbox');
  return failed(
    'eval_code',
    `${message}, and there is no sandbox`,
    `See sandbox; JavaScript alone also runs without: ${put('{"evalMode": "hybrid"}')}`,
  );
}

function checkMarketplace({ skillsProvider, skillsmpApiKeySet }: JsonObject): Check {
  if (skillsProvider !== 'skillsmp') return ok('marketplace', `skills are installed from ${String(skillsProvider)}`);
  if (skillsmpApiKeySet === true) return ok('marketplace', 'SkillsMP has a key');
  return warning(
    'marketplace',
    'SkillsMP has no key, so it cannot be searched',
    put('{"skillsmpApiKey": "..."}, or {"skillsProvider": "skillssh"}'),
  );
}

/** What is well with a gateway, what is not, and what to do about that. */
export function diagnose(observations: Observations): Check[] {
  const { url, health, settings, pools, models } = observations;
  if ('error' in health) {
    return [failed('gateway', health.error.message, 'Start it (npm start), or say where it is: --url or OMNIROUTE_URL')];
  }
  const checks = [
    ok('gateway', `it answers at ${url}`),
    checkDatabase(health.value),
    checkSandbox(health.value, pools),
    checkToken(observations),
  ];
  if (codeOf(models) !== 'unauthorized') checks.push(checkProviders(models));
  if ('value' in settings)
    checks.push(checkSkills(settings.value), checkEvalMode(settings.value, health.value), checkMarketplace(settings.value));
  return checks;
}
