import { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MARKETPLACES, MODES, SCOPES, SOURCES } from '../../cli/choices.ts';
import { createProgram } from '../../cli/create-program.ts';
import { EXIT_CODE } from '../../cli/exit-code.ts';
import { runCommand } from '../../cli/run-command.ts';
import { SCOPES as API_SCOPES } from '../../src/api/principal.ts';
import { MARKETPLACES as API_MARKETPLACES } from '../../src/marketplaces/marketplace.ts';
import { SKILL_MODES, SOURCE_PROVIDERS } from '../../src/skills/skill.ts';
import { VERSION } from '../../src/version.ts';
import { createTestApp, MANAGEMENT_TOKEN, type TestApp } from '../support/app.ts';
import { CLI_URL, fetchFrom, runCli } from '../support/run-cli.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

it('offers the values that the gateway takes', () => {
  expect({ MODES, SOURCES, SCOPES, MARKETPLACES }).toEqual({
    MODES: [...SKILL_MODES],
    SOURCES: expect.arrayContaining([...SOURCE_PROVIDERS]),
    SCOPES: [...API_SCOPES],
    MARKETPLACES: [...API_MARKETPLACES],
  });
  expect(SOURCES).toHaveLength(SOURCE_PROVIDERS.length);
});

describe('help', () => {
  const program = createProgram(
    () => {},
    80,
    async () => {},
  );
  const lines = program.commands.flatMap((command) => [[command.name()], ...command.commands.map((sub) => [command.name(), sub.name()])]);

  it('has every command', () => {
    expect(lines.map((line) => line.join(' '))).toEqual(
      expect.arrayContaining([
        ...['list', 'get', 'install', 'enable', 'disable', 'mode'].map((name) => `skills ${name}`),
        ...['marketplace search', 'marketplace install', 'execute', 'executions list', 'executions get', 'approvals list'],
        ...['approvals approve', 'approvals deny', 'keys list', 'keys create', 'keys delete', 'mcp', 'doctor', 'completion'],
      ]),
    );
  });

  it.each([[[]], ...lines.map((line) => [line])])('is there for %j', async (line) => {
    const { code, stdout, stderr } = await runCli([...line, '--help']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`^Usage: omniroute-edge ${line.join(' ')}`));
    expect(stdout).toMatch(/\n {2}--token <token>/);
  });

  it('tells the exit codes and the environment', async () => {
    const { stdout } = await runCli(['--help']);
    for (const text of ['OMNIROUTE_URL', 'OMNIROUTE_TOKEN', '1 failed, 2 wrong usage, 3 no gateway there, 4 not authorized']) {
      expect(stdout).toContain(text);
    }
  });

  it('comes on stderr where a command is missing', async () => {
    for (const line of [[], ['skills'], ['marketplace']]) {
      const { code, stdout, stderr } = await runCli(line);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/^Usage: omniroute-edge[\s\S]+error: Say which command\n$/);
    }
  });

  it('fits a narrow terminal', async () => {
    const { stdout } = await runCli(['--help'], { columns: 60 });
    expect(
      Math.max(
        ...stdout
          .split('\n\nEnvironment')[0]!
          .split('\n')
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(80);
  });

  it('prints the version', async () => {
    expect(await runCli(['--version'])).toMatchObject({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
  });
});

describe('a line that is wrong', () => {
  it.each([
    [['skils'], "error: unknown command 'skils'\n(Did you mean skills?)\nSee --help\n"],
    [['skills', 'instal'], "error: unknown command 'instal'\n(Did you mean install?)\nSee --help\n"],
    [['skills', 'list', '--jsno'], "error: unknown option '--jsno'\n(Did you mean --json?)\nSee --help\n"],
    [['approvals', 'approve'], "error: missing required argument 'approval'\nSee --help\n"],
    [['keys', 'create', 'ci', '--scope', 'all'], /Allowed choices are chat, read:skills, write:skills, execute:skills, manage\./],
    [['keys', '--url', 'localhost:8787'], 'error: Use an http or https URL, not localhost:\n'],
    [['keys', '--url', '???'], 'error: Not a URL: ???. Use one such as http://127.0.0.1:8787\n'],
    [['keys', '--url', 'http://a/?x=1'], 'error: Use a URL without query and fragment\n'],
  ])('%j', async (line, message) => {
    const { code, stdout, stderr } = await runCli(line);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
  });

  it('is told to programs as JSON', async () => {
    const { code, stdout, stderr } = await runCli(['skils', '--json']);
    expect([code, stdout]).toEqual([2, '']);
    expect(JSON.parse(stderr)).toEqual({ error: "unknown command 'skils'\n(Did you mean skills?)", code: 'usage' });
  });
});

describe('secrets', () => {
  const SECRET = 'omr_secret-of-mine';

  it('in a URL are refused and not repeated', async () => {
    const { code, stderr } = await runCli(['keys', '--url', `https://me:${SECRET}@gateway.example`]);
    expect(code).toBe(2);
    expect(stderr).toBe('error: The URL must not hold a user name or password; give the token by OMNIROUTE_TOKEN\n');
  });

  it.each([`${SECRET}\nx`, `${SECRET} x`, `${SECRET}é`])('that no header can hold are refused and not repeated', async (token) => {
    expect(await runCli(['keys'], { token })).toMatchObject({ code: 2, stderr: 'error: The token has characters that no token has\n' });
  });

  it('stay unsaid whatever goes wrong', async () => {
    const fetch = fetchFrom(app);
    const runs = [
      runCli(['keys', '--token', SECRET], { fetch }),
      runCli(['doctor'], { fetch, token: SECRET }),
      runCli(['skills', 'list', '--json'], { fetch, token: SECRET }),
      runCli(['skills', 'list'], { token: SECRET }),
    ];
    for (const { code, stdout, stderr } of await Promise.all(runs)) {
      expect(code).not.toBe(0);
      expect(stdout + stderr).not.toContain(SECRET);
    }
  });

  it('win as a flag over the environment', async () => {
    expect(await runCli(['keys', '--token', MANAGEMENT_TOKEN], { fetch: fetchFrom(app), token: SECRET })).toMatchObject({ code: 0 });
  });

  it('go nowhere else', async () => {
    const asked: [string, string | undefined][] = [];
    const fetch: typeof globalThis.fetch = async (url, init) => {
      asked.push([String(url), init?.redirect]);
      return new Response(null, { status: 302, headers: { location: 'https://elsewhere.example/' } });
    };
    const { code, stderr } = await runCli(['keys'], { fetch, token: SECRET });
    expect([code, asked]).toEqual([3, [[`${CLI_URL}/api/keys`, 'manual']]]);
    expect(stderr).toContain('is no OmniRoute Edge gateway (302, without a content type)');
  });
});

describe('a gateway', () => {
  const answers =
    (body: BodyInit | null, init?: ResponseInit): typeof fetch =>
    async () =>
      new Response(body, init);
  const json = { headers: { 'content-type': 'application/json' } };

  it('that cannot be reached', async () => {
    expect(await runCli(['keys'])).toMatchObject({
      code: EXIT_CODE.unreachable,
      stdout: '',
      stderr: `error: Cannot reach the gateway at ${CLI_URL}: connect ECONNREFUSED (unreachable)\nStart it, or say where it is: --url or OMNIROUTE_URL\n`,
    });
  });

  it.each<[string, BodyInit | null, ResponseInit]>([
    ['answers with a page', '<html>hello</html>', { headers: { 'content-type': 'text/html' } }],
    ['refuses with a page', '<html>502</html>', { status: 502, headers: { 'content-type': 'text/html' } }],
    ['answers with nothing', null, json],
    ['answers half', '{"data":[', json],
    ['answers a list', '[]', json],
    ['refuses in a way of its own', '{"message":"no"}', { ...json, status: 400 }],
    ['answers bytes', new Uint8Array([0xff, 0, 0x1b]), json],
  ])('that %s is none', async (_, body, init) => {
    const { code, stdout, stderr } = await runCli(['keys'], { fetch: answers(body, init) });
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toMatch(
      /^error: What answers at http:\/\/gateway\.example is no OmniRoute Edge gateway \(\d{3}, .+\) \(not_a_gateway\)\n$/,
    );
  });

  it('that lists something else is none', async () => {
    for (const body of ['{"data":3}', '{}', '{"data":["text"]}']) {
      expect(await runCli(['keys'], { fetch: answers(body, json) })).toMatchObject({
        code: 3,
        stderr: 'error: The gateway sent a list that cannot be read (not_a_gateway)\n',
      });
    }
  });

  it('that breaks off has not been reached', async () => {
    const body = new ReadableStream({
      pull: (controller) => controller.error(new TypeError('terminated', { cause: new Error('other side closed') })),
    });
    expect(await runCli(['keys'], { fetch: answers(body, json) })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('other side closed'),
    });
  });

  it('that has no end of its answer is left', async () => {
    const chunk = new Uint8Array(8 * 1024 * 1024).fill(32);
    let sent = 0;
    const body = new ReadableStream({
      pull(controller) {
        sent += 1;
        controller.enqueue(chunk);
      },
    });
    expect(await runCli(['keys'], { fetch: answers(body, json) })).toMatchObject({
      code: 1,
      stderr: 'error: The answer is larger than 100 MiB: ask for less of it (too_large)\n',
    });
    expect(sent).toBeLessThan(20);
  });

  it('may stand below a path', async () => {
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = async (url) => {
      asked.push(String(url));
      return new Response('{"data":[]}', json);
    };
    await runCli(['keys', '--url', 'https://gateway.example/below/'], { fetch });
    await runCli(['executions', 'get', '../../api/keys?x'], { fetch });
    expect(asked).toEqual(['https://gateway.example/below/api/keys', `${CLI_URL}/api/skills/executions/..%2F..%2Fapi%2Fkeys%3Fx`]);
  });
});

describe('who is not let in', () => {
  it.each([
    ['without a token', undefined, 'Set OMNIROUTE_TOKEN to the management token or an API key of this gateway\n'],
    ['with another one', 'omr_other', 'OMNIROUTE_TOKEN, or --token, is not the management token or an API key of this gateway\n'],
  ])('%s', async (_, token, hint) => {
    const { code, stdout, stderr } = await runCli(['keys'], { fetch: fetchFrom(app), ...(token !== undefined && { token }) });
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toBe(`error: A valid API key is required: send it as Authorization: Bearer <key> (unauthorized)\n${hint}`);
  });

  it('with too few scopes', async () => {
    const { code, stderr } = await runCli(['keys'], { fetch: fetchFrom(app), token: app.key.key });
    expect(code).toBe(4);
    expect(stderr).toContain('error: This needs the management token or an API key with the scope manage (forbidden)\n');
  });
});

describe('leaving', () => {
  const world = (stdout: Writable, fetch: typeof globalThis.fetch, signal = new AbortController().signal) => ({
    env: { OMNIROUTE_URL: CLI_URL, OMNIROUTE_TOKEN: MANAGEMENT_TOKEN },
    stdin: Readable.from([]),
    stdout,
    stderr: new Writable({ write: (_chunk, _encoding, done) => done() }),
    fetch,
    signal,
  });

  it('is no failure of a reader that has seen enough', async () => {
    const closed = new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })) });
    closed.on('error', () => {});
    expect(await runCommand(['skills', 'list'], world(closed, fetchFrom(app)))).toBe(0);
  });

  it('ends what is under way', async () => {
    const left = new AbortController();
    const hanging = Promise.withResolvers<AbortSignal>();
    const fetch: typeof globalThis.fetch = (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
        hanging.resolve(init?.signal as AbortSignal);
      });
    const sink = new Writable({ write: (_chunk, _encoding, done) => done() });
    const running = runCommand(['execute', 'eval_code', 'code=1'], world(sink, fetch, left.signal));
    const signal = await hanging.promise;
    left.abort(new Error('SIGINT'));
    expect(await running).toBe(130);
    expect(signal.aborted).toBe(true);
  });
});
