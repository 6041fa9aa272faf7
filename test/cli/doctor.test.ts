import { afterEach, expect, it } from 'vitest';
import type { CheckStatus } from '../../cli/doctor/check.ts';
import { diagnose } from '../../cli/doctor/diagnose.ts';
import type { Observations } from '../../cli/doctor/observe.ts';
import { CommandError, EXIT_CODE } from '../../cli/exit-code.ts';
import { objectsOf } from '../../src/json.ts';
import { DEFAULT_SETTINGS, toPublicSettings } from '../../src/settings.ts';
import { createTestApp, MANAGEMENT_TOKEN, type TestApp, type TestAppOptions } from '../support/app.ts';
import { fetchFrom, runCli } from '../support/run-cli.ts';

let app: TestApp | undefined;
afterEach(() => app?.close());

const listing = (): Response => Response.json({ object: 'list', data: [{ id: 'gpt-5' }, { id: 'gpt-6' }] });

async function doctor(options: TestAppOptions, token?: string) {
  app = await createTestApp(options);
  const result = await runCli(['doctor', '--json'], { fetch: fetchFrom(app), ...(token !== undefined && { token }) });
  const checks = Object.fromEntries(
    objectsOf(result.json().checks).map(({ name, status, message, todo }) => [name, { status, message, todo }]),
  );
  return { ...result, checks, isOk: result.json().ok };
}

it('checks a real gateway', async () => {
  const { code, checks, isOk, stderr } = await doctor({ upstream: listing }, MANAGEMENT_TOKEN);
  expect(checks).toMatchObject({
    gateway: { status: 'ok' },
    database: { status: 'ok' },
    sandbox: { status: 'warning', todo: 'Set SANDBOX_POOLS and SANDBOX_SECRET on the gateway' },
    providers: { status: 'ok', message: expect.stringContaining('2 models for OpenAI clients') },
    skills: { status: 'ok' },
    eval_code: { status: 'failed', message: 'evalMode is sandbox, and there is no sandbox' },
    marketplace: { status: 'warning', message: 'SkillsMP has no key, so it cannot be searched' },
  });
  expect([code, isOk, JSON.parse(stderr)]).toEqual([1, false, { error: 'failed: eval_code', code: 'unhealthy' }]);
});

it('tells a database that does not answer', async () => {
  let isDown = false;
  app = await createTestApp({
    databaseFetch: async (request, send) => (isDown ? Response.json({}, { status: 500 }) : send(request)),
  });
  isDown = true;
  const { code, stdout } = await runCli(['doctor'], { fetch: fetchFrom(app), token: MANAGEMENT_TOKEN });
  isDown = false;
  expect(code).toBe(1);
  expect(stdout).toContain('failed   database     it cannot be used\n                      -> Check LIBSQL_URL and LIBSQL_AUTH_TOKEN');
});

it('sees with an API key what that may see', async () => {
  app = await createTestApp({ upstream: listing });
  const { stdout } = await runCli(['doctor', '--url', 'https://gateway.example'], {
    fetch: (url, init) => fetchFrom(app as TestApp)(String(url).replace('https:', 'http:'), init),
    token: app.key.key,
  });
  expect(stdout).toContain('ok       token        it is valid, as an API key: what only the management sees is not checked\n');
  expect(stdout).not.toContain('marketplace');
});

it('tells a token that is missing or wrong', async () => {
  expect((await doctor({}, 'omr_other')).checks).toMatchObject({ token: { status: 'failed', message: 'the gateway does not know it' } });
  await app?.close();
  const { checks } = await doctor({});
  expect(checks).toMatchObject({ token: { status: 'failed', message: 'none is set', todo: expect.stringContaining('OMNIROUTE_TOKEN') } });
  expect(checks).not.toHaveProperty('providers');
});

it('tells people what to do', async () => {
  expect(await runCli(['doctor'])).toMatchObject({
    code: 1,
    stdout:
      'failed   gateway      Cannot reach the gateway at http://gateway.example: connect ECONNREFUSED\n' +
      '                      -> Start it (npm start), or say where it is: --url or OMNIROUTE_URL\n',
    stderr: 'error: failed: gateway (unhealthy)\n',
  });
});

it('does not give its token to what is no gateway', async () => {
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = async (url) => {
    asked.push(String(url));
    return Response.json({ status: 'ok' });
  };
  const { stdout } = await runCli(['doctor'], { fetch, token: MANAGEMENT_TOKEN });
  expect(stdout).toContain('failed   gateway      What answers at http://gateway.example is no OmniRoute Edge gateway\n');
  expect(asked).toEqual(['http://gateway.example/healthz']);
});

const pools = (...hosts: { status: string; missingImages?: string[] }[]) => ({
  pools: { value: { pools: [{ name: 'eu', hosts: hosts.map((host, number) => ({ url: `https://sandbox-${number}`, ...host })) }] } },
});
const healthy: Observations = {
  url: 'https://gateway.example',
  hasToken: true,
  health: { value: { status: 'ok', database: 'ok', sandbox: 'ok' } },
  settings: { value: { ...toPublicSettings(DEFAULT_SETTINGS), skillsmpApiKeySet: true } },
  pools: pools({ status: 'ready' }).pools,
  models: { value: { OpenAI: 1, Anthropic: 0, Gemini: 3 } },
};
const refused = (code: string) => ({ error: new CommandError(EXIT_CODE.failed, `it says ${code}`, { code }) });
const settings = (changes: object) => ({
  settings: { value: { ...toPublicSettings(DEFAULT_SETTINGS), skillsmpApiKeySet: true, ...changes } },
});
const health = (changes: object) => ({ health: { value: { status: 'ok', database: 'ok', sandbox: 'ok', ...changes } } });

it('finds nothing wrong where all is well', () => {
  const checks = diagnose(healthy);
  expect(checks.map(({ name }) => name)).toEqual([
    'gateway',
    'database',
    'sandbox',
    'token',
    'providers',
    'skills',
    'eval_code',
    'marketplace',
  ]);
  expect(checks.filter(({ status }) => status !== 'ok')).toEqual([]);
  expect(checks.find(({ name }) => name === 'providers')?.message).toBe('1 model for OpenAI clients, 3 models for Gemini clients');
});

it.each<[string, Partial<Observations>, CheckStatus, string]>([
  ['sandbox', health({ sandbox: 'unavailable' }), 'failed', 'no host of any pool is ready'],
  ['sandbox', { pools: refused('forbidden') }, 'ok', 'a host is ready'],
  [
    'sandbox',
    pools({ status: 'ready' }, { status: 'not_ready', missingImages: ['alpine:3.20'] }, { status: 'unreachable' }),
    'warning',
    'https://sandbox-1 of eu is not ready, without alpine:3.20; https://sandbox-2 of eu is unreachable',
  ],
  [
    'eval_code',
    { ...health({ sandbox: 'unavailable' }), ...settings({ evalMode: 'hybrid' }) },
    'warning',
    'evalMode is hybrid: what needs a container cannot run',
  ],
  ['eval_code', { ...health({ sandbox: 'unavailable' }), ...settings({ evalMode: 'direct' }) }, 'ok', 'evalMode is direct'],
  ['skills', settings({ skillsEnabled: false }), 'failed', 'they are switched off: nothing is offered or run'],
  ['skills', settings({ customSkillExecutionEnabled: false }), 'warning', 'only the built-in ones are offered and run'],
  ['marketplace', settings({ skillsProvider: 'skillssh', skillsmpApiKeySet: false }), 'ok', 'skills are installed from skillssh'],
  ['token', { url: 'http://10.0.0.1:8787' }, 'warning', 'it is sent where others can read it'],
  ['token', { url: 'http://127.0.0.2:8787' }, 'ok', 'it is valid, for the management'],
  ['token', { settings: refused('management_not_configured') }, 'warning', 'the gateway has no management token'],
  ['token', { settings: refused('database_unavailable') }, 'warning', 'it cannot be checked: it says database_unavailable'],
  ['providers', { models: { value: { OpenAI: 0, Anthropic: 0, Gemini: 0 } } }, 'failed', 'none is configured, or none lists its models'],
  ['providers', { models: refused('forbidden') }, 'warning', 'the API key lacks the scope chat'],
  ['providers', { models: refused('timed_out') }, 'warning', 'they cannot be checked: it says timed_out'],
])('%s: %j', (name, changes, status, message) => {
  const check = diagnose({ ...healthy, ...changes }).find((found) => found.name === name);
  expect(check).toMatchObject({ status, message });
  expect(check?.todo === undefined).toBe(status === 'ok');
});
