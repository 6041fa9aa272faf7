import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JsonObject, objectsOf } from '../../src/json.ts';
import { createTestApp, MANAGEMENT_TOKEN, type TestApp } from '../support/app.ts';
import { fetchFrom, runCli } from '../support/run-cli.ts';

let app: TestApp;
let folder: string;
const run = (args: string[], options = {}) => runCli(args, { fetch: fetchFrom(app), token: MANAGEMENT_TOKEN, ...options });
const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const echo = (version: string, further: JsonObject = {}): JsonObject => ({
  name: 'echo',
  version,
  description: 'Says it again',
  schema: { input: { text: 'string' }, output: {} },
  handlerCode: 'echo-handler',
  ...further,
});

beforeAll(async () => {
  app = await createTestApp();
  folder = mkdtempSync(join(tmpdir(), 'omniroute-cli-'));
  for (const version of ['1.0.0', '1.2.0', '2.0.0']) {
    await app.call('/api/skills/install', { json: echo(version) });
  }
});
afterAll(async () => {
  await app?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('skills list', () => {
  it('prints a table for people', async () => {
    const { code, stdout, stderr } = await run(['skills', 'list', '--query', 'again']);
    expect(stdout.split('\n')).toEqual([
      'SKILL       MODE  POLICY  SOURCE  DESCRIPTION',
      'echo@1.0.0  on    auto    local   Says it again',
      'echo@1.2.0  on    auto    local   Says it again',
      'echo@2.0.0  on    auto    local   Says it again',
      '',
    ]);
    expect([code, stderr]).toEqual([0, '']);
  });

  it('prints the gateway’s own answer with --json, and nothing else', async () => {
    const { body } = await app.call('/api/skills?mode=off');
    const { code, json, stderr } = await run(['skills', 'list', '--mode', 'off', '--json']);
    expect(json()).toEqual(body);
    expect([code, stderr]).toEqual([0, '']);
  });

  it('says where the rest is', async () => {
    const { stdout, stderr } = await run(['skills', 'list', '-q', 'echo', '--limit', '2', '--page', '2']);
    expect(stdout).toContain('echo@2.0.0');
    expect(stderr).toBe('page 2 of 2, 3 in all; see --page and --limit\n');
    expect((await run(['skills', 'list', '-q', 'nothing like it'])).stderr).toBe('no skills\n');
  });

  it.each([
    [['--limit', '0'], 'Use a whole number from 1 to 200.'],
    [['--page', 'two'], 'Use a whole number from 1 to 1000000.'],
    [['--mode', 'maybe'], 'Allowed choices are on, off, auto.'],
    [['more'], 'too many arguments'],
  ])('refuses %j', async (args, message) => {
    const { code, stdout, stderr } = await run(['skills', 'list', ...args]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });
});

describe('a reference', () => {
  it.each([
    ['echo', '2.0.0'],
    ['echo@1.0.0', '1.0.0'],
    ['echo@^1', '1.2.0'],
    ['echo@latest', '2.0.0'],
  ])('%s means the version %s', async (reference, version) => {
    expect((await run(['skills', 'get', reference, '--json'])).json()).toMatchObject({ name: 'echo', version });
  });

  it('may be an id', async () => {
    const { id } = (await run(['skills', 'get', 'echo', '--json'])).json();
    expect((await run(['skills', 'get', String(id), '--json'])).json()).toMatchObject({ id });
  });

  it.each([
    ['nothing', 'error: No skill nothing (skill_not_found)\n', 1],
    ['ech', 'error: No skill ech (skill_not_found)\n', 1],
    ['echo@3', 'error: No skill echo@3; there is echo in 1.0.0, 1.2.0, 2.0.0 (skill_not_found)\n', 1],
    ['00000000-0000-0000-0000-000000000000', 'error: No skill with id 00000000-0000-0000-0000-000000000000 (skill_not_found)\n', 1],
    ['@1.0.0', 'error: Name the skill: its id, name or name@version\n', 2],
  ])('%s is none', async (reference, message, exitCode) => {
    const { code, stdout, stderr } = await run(['skills', 'get', reference]);
    expect([code, stdout]).toEqual([exitCode, '']);
    expect(stderr).toContain(message);
  });

  it('that several owners have must be an id', async () => {
    await app.call('/api/skills/install', { json: { ...echo('1.0.0'), name: 'shared' } });
    await app.call('/api/skills/install', { json: { ...echo('1.0.0'), name: 'shared', apiKeyId: app.key.id } });
    const { code, stderr } = await run(['skills', 'get', 'shared']);
    expect(code).toBe(2);
    expect(stderr).toContain('Several skills are shared@1.0.0; name one by its id:');
    expect(stderr).toContain(`shared@1.0.0  of ${app.key.id}`);
  });
});

describe('skills get', () => {
  it('prints names and values', async () => {
    const { stdout } = await run(['skills', 'get', 'echo']);
    expect(stdout).toMatch(/^description +Says it again$/m);
    expect(stdout).toContain('"text": {');
  });

  it('lets no skill steer the terminal', async () => {
    await app.call('/api/skills/install', { json: { ...echo('1.0.0'), name: 'steering', description: 'red \u001b[31m\u202e over' } });
    for (const args of [
      ['get', 'steering'],
      ['list', '-q', 'steering'],
    ]) {
      const { stdout } = await run(['skills', ...args], { columns: 120, env: { NO_COLOR: '1' } });
      expect(stdout).toContain('red ␛[31m\ufffd over');
      expect(stdout).not.toContain('\u001b');
      expect(stdout).not.toContain('\u202e');
    }
  });
});

describe('switching a skill', () => {
  it.each([
    [['disable', 'echo@1.0.0'], 'echo@1.0.0 has the mode off and the policy auto\n'],
    [['enable', 'echo@1.0.0'], 'echo@1.0.0 has the mode on and the policy auto\n'],
    [['mode', 'echo@1.0.0', 'auto'], 'echo@1.0.0 has the mode auto and the policy auto\n'],
  ])('%j', async (args, said) => {
    expect(await run(['skills', ...args])).toMatchObject({ code: 0, stdout: said, stderr: '' });
  });

  it('prints the skill as it is then with --json', async () => {
    expect((await run(['skills', 'mode', 'echo@1.2.0', 'off', '--json'])).json()).toMatchObject({
      version: '1.2.0',
      mode: 'off',
      enabled: false,
    });
  });

  it('refuses what is no mode', async () => {
    expect(await run(['skills', 'mode', 'echo', 'perhaps'])).toMatchObject({ code: 2, stdout: '' });
    expect(await run(['skills', 'mode', 'echo'])).toMatchObject({
      code: 2,
      stderr: "error: missing required argument 'mode'\nSee --help\n",
    });
  });
});

describe('skills install', () => {
  const installed = async (name: string) =>
    objectsOf((await app.call(`/api/skills?q=${name}`)).body.data).find((skill) => skill.name === name);

  it('takes a JSON file', async () => {
    const { code, stdout } = await run([
      'skills',
      'install',
      write('skill.json', JSON.stringify({ ...echo('1.0.0'), name: 'from-json' })),
      '--mode',
      'auto',
    ]);
    expect([code, stdout.startsWith('installed from-json as ')]).toEqual([0, true]);
    expect(await installed('from-json')).toMatchObject({ mode: 'auto', handler: 'echo-handler', apiKeyId: 'system' });
  });

  it('takes JSON on standard input, for one key', async () => {
    const stdin = JSON.stringify({ ...echo('1.0.0'), name: 'from-stdin' });
    expect((await run(['skills', 'install', '-', '--owner', app.key.id, '--json'], { stdin })).json()).toMatchObject({ success: true });
    expect(await installed('from-stdin')).toMatchObject({ apiKeyId: app.key.id });
  });

  it('takes a SKILL.md', async () => {
    const file = write('SKILL.md', '---\nname: from-markdown\ndescription: How it is done\nversion: 1.3.0\ntags: a, b\n---\nDo it so.\n');
    expect(await run(['skills', 'install', file])).toMatchObject({ code: 0 });
    const skill = {
      version: '1.3.0',
      description: 'How it is done',
      tags: ['a', 'b'],
      kind: 'instructions',
      handler: 'Do it so.',
      mode: 'auto',
    };
    expect(await installed('from-markdown')).toMatchObject(skill);
  });

  it('takes a folder, in which the skill.json goes before the SKILL.md', async () => {
    expect(await run(['skills', 'install', 'examples/commit-message'])).toMatchObject({ code: 0 });
    expect(await installed('commit-message')).toMatchObject({ kind: 'instructions', tags: ['git', 'commit', 'message'] });
  });

  it.each([
    [['no-such-file'], /^error: Cannot read no-such-file: ENOENT/],
    [['test'], /^error: test has neither a skill\.json nor a SKILL\.md\n/],
    [['-'], /^error: Standard input is not JSON: /],
  ])('refuses %j', async (args, message) => {
    expect(await run(['skills', 'install', ...args], { stdin: 'hello' })).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(message),
    });
  });

  it('refuses a SKILL.md that says nothing', async () => {
    const file = write('empty.md', '---\nname: x\n---\n');
    expect(await run(['skills', 'install', file])).toMatchObject({
      code: 2,
      stderr: `error: ${file}: SKILL.md has no instructions below its frontmatter\n`,
    });
  });

  it('tells each fault that the gateway finds', async () => {
    const { code, stderr } = await run(['skills', 'install', '-'], {
      stdin: '{"name":"!","description":"x","schema":{},"handlerCode":"x","more":1}',
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: .+ \(invalid_request\)\n {2}name: Use 1 to 100 letters/);
  });

  it('tells a program the same, as the gateway says it', async () => {
    const { stdout, stderr } = await run(['skills', 'install', '-', '--json'], { stdin: JSON.stringify(echo('1.0.0')) });
    expect(stdout).toBe('');
    expect(JSON.parse(stderr)).toMatchObject({ code: 'skill_exists', error: expect.any(String) });
  });
});
