import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApp, MANAGEMENT_TOKEN, type TestApp } from '../support/app.ts';
import { fetchFrom, runCli } from '../support/run-cli.ts';

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app?.close());

async function suggest(line: string[], options: object = { fetch: fetchFrom(app), token: MANAGEMENT_TOKEN }): Promise<string[]> {
  const { code, stdout, stderr } = await runCli(['complete', '--', ...line], options);
  expect([code, stderr]).toEqual([0, '']);
  return stdout.split('\n').filter((found) => found !== '');
}
const values = async (line: string[]) => (await suggest(line)).map((found) => found.split('\t')[0]);

describe('at the cursor may stand', () => {
  it.each<[string[], string[]]>([
    [['sk'], ['skills']],
    [
      ['skills', ''],
      ['list', 'get', 'install', 'enable', 'disable', 'mode'],
    ],
    [['ex'], ['execute', 'executions']],
    [['--url', 'http://x', 'ke'], ['keys']],
    [['--url', ''], []],
    [['skills', 'list', '--mo'], ['--mode']],
    [
      ['skills', 'list', '--mode', ''],
      ['on', 'off', 'auto'],
    ],
    [['skills', 'list', '--mode=a'], ['--mode=auto']],
    [['skills', 'list', '--mode', '=', 'a'], ['auto']],
    [
      ['skills', 'list', '--mode', '='],
      ['on', 'off', 'auto'],
    ],
    [
      ['skills', 'mode', 'file_'],
      ['file_read', 'file_write'],
    ],
    [['execute', '--json', 'eval'], ['eval_code']],
    [['execute', 'eval_code', ''], []],
    [
      ['skills', 'mode', 'file_read', 'o'],
      ['on', 'off'],
    ],
    [['skills', 'mode', 'file_read', 'on', ''], []],
    [['skills', 'list', '--j'], ['--json']],
    [['keys', 'create', 'ci', '--scope', 'ex'], ['execute:skills']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['execute', 'eval_code', '--', '--in'], []],
    [['nonsense', ''], []],
    [[], ['skills', 'marketplace', 'execute', 'executions', 'approvals', 'keys', 'mcp', 'doctor', 'completion']],
  ])('%j: %j', async (line, expected) => {
    expect(await values(line)).toEqual(expected);
  });
});

it('describes what it suggests on one line', async () => {
  expect(await suggest(['skills', 'get', 'file_r'])).toEqual(['file_read\tRead a file of your workspace, as text or as base64.']);
});

it('suggests nothing of a gateway that is not there, or does not know the token', async () => {
  expect(await suggest(['skills', 'get', ''], {})).toEqual([]);
  expect(await suggest(['skills', 'get', ''], { fetch: fetchFrom(app), token: 'omr_other' })).toEqual([]);
});

it('waits no longer for a gateway than a person would', async () => {
  expect(await suggest(['skills', 'get', ''], { fetch: () => new Promise(() => {}) })).toEqual([]);
});

it.each(['bash', 'zsh', 'fish'])('prints what %s needs', async (shell) => {
  const { code, stdout } = await runCli(['completion', shell]);
  expect(code).toBe(0);
  expect(stdout).toContain('omniroute-edge complete -- ');
  expect(stdout).not.toMatch(/\beval\b/);
});

it('refuses other shells', async () => {
  expect(await runCli(['completion', 'tcsh'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Allowed choices are bash, zsh, fish.'),
  });
});
