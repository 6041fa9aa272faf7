import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runRequest } from '../../src/contract/runs.ts';
import { createWorkspace } from '../../src/db/workspace-repository.ts';
import type { JsonObject } from '../../src/json.ts';
import { evalCode } from '../../src/skills/builtin/eval-code.ts';
import { executeCommand } from '../../src/skills/builtin/execute-command.ts';
import type { Sandbox } from '../../src/skills/define.ts';
import { callSkill } from '../support/call-skill.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestHost, newRunId } from '../support/docker.ts';
import { createSkillContext } from '../support/skill-context.ts';

const { host } = createTestHost();
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await host.drain(0);
  database.close();
});

const sandbox: Sandbox = {
  run(request) {
    const { image, command, env, ...config } = runRequest.parse(request);
    return host.runner.run(image, command, env, config);
  },
};

/** A context with a workspace of its own. */
function setUp() {
  const apiKeyId = newRunId();
  const workspace = createWorkspace(database.db, {
    apiKeyId,
    loadQuota: async () => ({ maxBytes: 67_108_864, maxFiles: 1_000 }),
    now: () => new Date(),
  });
  return { workspace, context: createSkillContext({ sandbox, workspace, executionId: apiKeyId }) };
}

describe('a skill that runs in a sandbox', () => {
  it('accounts for every file that a program leaves', async () => {
    const code = `
import os
for i in range(20): open(f'large{i}', 'wb').write(bytes(1048576))
open('too-large', 'wb').write(bytes(1048577))
os.symlink('/etc', 'link'); os.mkfifo('pipe'); open(b'\\xff.txt', 'w')
open('e\\u0301.txt', 'w').write('decomposed'); open('\\u00e9.txt', 'w').write('composed'); open('.env', 'w')`;
    const { context, workspace } = setUp();
    const output = (await callSkill(evalCode, { code, language: 'python', timeoutMs: 30_000 }, context)) as JsonObject;
    expect(output).toMatchObject({ success: true, stderr: '' });
    const saved = (output.files as { path: string }[]).map(({ path }) => path);
    const lost = output.filesNotSaved as { path: string; reason: string }[];
    expect(saved.length + lost.length).toBe(27);
    expect(output.filesNotSavedCount).toBe(lost.length);
    expect(new Set([...saved, ...lost.map(({ path }) => path)]).size).toBe(27);
    expect(
      lost
        .filter(({ path }) => !path.startsWith('large'))
        .map(({ path, reason }) => `${path}: ${reason}`)
        .toSorted(),
    ).toEqual([
      '.env: Skill file path contains a restricted segment',
      '\\xff.txt: Its name is not UTF-8',
      'e\u0301.txt: The workspace takes it for another file of the run: \u00e9.txt',
      'link: It is a symbolic link',
      'pipe: It is a named pipe',
      'too-large: It is larger than 1048576 bytes',
    ]);
    expect(new TextDecoder().decode(await workspace.read('\u00e9.txt', 100))).toBe('composed');
  });

  it('counts the files past those that it names', async () => {
    const args = ['-c', 'i=0; while [ $i -lt 1300 ]; do : > f$i; i=$((i+1)); done'];
    const output = (await callSkill(executeCommand, { command: 'sh', args, timeoutMs: 30_000 }, setUp().context)) as JsonObject;
    expect(output).toMatchObject({ success: true, filesNotSavedCount: 300 });
    expect(output.files).toHaveLength(1_000);
    expect(output.filesNotSaved).toHaveLength(100);
  });
});
