import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createWorkspace } from '../../../src/db/workspace-repository.ts';
import type { JsonValue } from '../../../src/json.ts';
import { fileRead } from '../../../src/skills/builtin/file-read.ts';
import { fileWrite } from '../../../src/skills/builtin/file-write.ts';
import { SkillError } from '../../../src/skills/define.ts';
import { callSkill } from '../../support/call-skill.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createSkillContext } from '../../support/skill-context.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(() => database.client.execute('DELETE FROM workspace_files'));

function contextWith(maxFileBytes = 1_048_576) {
  const workspace = createWorkspace(database.db, {
    apiKeyId: 'key-1',
    loadQuota: async () => ({ maxBytes: 10_000_000, maxFiles: 10 }),
    now: () => new Date(),
  });
  return createSkillContext({ workspace, limits: { ...createSkillContext().limits, maxFileBytes } });
}
const read = (input: JsonValue, maxFileBytes?: number) => callSkill(fileRead, input, contextWith(maxFileBytes));
const write = (input: JsonValue, maxFileBytes?: number) => callSkill(fileWrite, input, contextWith(maxFileBytes));

const PATH_FAULTS = [
  ['/etc/passwd', 'Skill file paths must be relative to the skill workspace'],
  ['../a.txt', 'Skill file path escapes the skill workspace'],
  ['a/.GIT/config', 'Skill file path contains a restricted segment'],
  ['.', 'Skill file path must point to a file'],
  ['a/', 'Skill file path must point to a file'],
];

describe('file_write', () => {
  it('writes text', async () => {
    expect(await write({ path: './notes//a.md', content: 'añ' })).toEqual({ success: true, path: 'notes/a.md', bytesWritten: 3 });
    expect(await read({ path: 'notes/a.md' })).toEqual({
      success: true,
      path: 'notes/a.md',
      content: 'añ',
      bytesRead: 3,
      encoding: 'utf8',
    });
  });

  it('writes base64', async () => {
    expect(await write({ path: 'a.bin', content: 'AP8=', encoding: 'base64' })).toEqual({ success: true, path: 'a.bin', bytesWritten: 2 });
    expect(await read({ path: 'a.bin', encoding: 'base64' })).toMatchObject({ content: 'AP8=', bytesRead: 2, encoding: 'base64' });
  });

  it('appends, and counts what it added', async () => {
    await write({ path: 'log', content: 'a\n' });
    expect(await write({ path: 'log', content: 'bc\n', append: true })).toMatchObject({ bytesWritten: 3 });
    expect(await read({ path: 'log' })).toMatchObject({ content: 'a\nbc\n' });
  });

  it('creates an empty file', async () => {
    expect(await write({ path: 'empty', content: '' })).toEqual({ success: true, path: 'empty', bytesWritten: 0 });
    expect(await read({ path: 'empty' })).toMatchObject({ content: '', bytesRead: 0 });
  });

  it('takes null for what is left out', async () => {
    expect(await write({ path: 'a', content: 'x', encoding: null, append: null, overwrite: null })).toMatchObject({ success: true });
  });

  it.each([
    [{}, 'Missing required fields: path, content'],
    [{ path: 'a' }, 'Missing required fields: path, content'],
    [{ content: 'x' }, 'Missing required fields: path, content'],
    [{ path: '', content: 'x' }, 'Missing required fields: path, content'],
    [{ path: 'a', content: null }, 'Missing required fields: path, content'],
    [{ path: 'a', content: 1 }, 'content: Invalid input: expected string, received number'],
    [{ path: 'a', content: 'x', encoding: 'latin1' }, 'Unsupported encoding. Use utf8 or base64.'],
    [{ path: 'a', content: '%%', encoding: 'base64' }, 'content: Invalid base64-encoded string'],
    ...PATH_FAULTS.map(([path = '', message = '']): [JsonValue, string] => [{ path, content: 'x' }, message]),
  ])('answers %j with its error', async (input, message) => {
    await expect(write(input)).rejects.toEqual(new SkillError(message));
  });

  it('does not replace a file without overwrite', async () => {
    await write({ path: 'a.txt', content: 'x' });
    await expect(write({ path: 'a.txt', content: 'y', overwrite: false })).rejects.toEqual(
      new SkillError('Skill file already exists: a.txt'),
    );
  });

  it('limits the size in bytes, appends included', async () => {
    const tooLarge = new SkillError('Skill file write exceeds the 4 byte limit');
    await expect(write({ path: 'a', content: 'äää' }, 4)).rejects.toEqual(tooLarge);
    await write({ path: 'a', content: 'ää' }, 4);
    await expect(write({ path: 'a', content: 'x', append: true }, 4)).rejects.toEqual(tooLarge);
  });

  it('writes a file of the usual limit', async () => {
    expect(await write({ path: 'big', content: 'x'.repeat(1_048_576) })).toMatchObject({ bytesWritten: 1_048_576 });
    expect(await read({ path: 'big' })).toMatchObject({ bytesRead: 1_048_576 });
  });
});

describe('file_read', () => {
  it('keeps a byte order mark, and shows bytes that are no text as such', async () => {
    await write({ path: 'bom', content: '\ufeffa' });
    expect(await read({ path: 'bom' })).toMatchObject({ content: '\ufeffa', bytesRead: 4 });
    await write({ path: 'bin', content: 'Yf8=', encoding: 'base64' });
    expect(await read({ path: 'bin' })).toMatchObject({ content: 'a\ufffd', bytesRead: 2 });
  });

  it.each([
    [{}, 'Missing required field: path'],
    [{ path: '' }, 'Missing required field: path'],
    [{ path: null }, 'Missing required field: path'],
    [{ path: 1 }, 'path: Invalid input: expected string, received number'],
    [{ path: 'a', encoding: 'utf16' }, 'Unsupported encoding. Use utf8 or base64.'],
    [{ path: 'b/a.txt' }, 'Skill file not found: b/a.txt'],
    ...PATH_FAULTS.map(([path = '', message = '']): [JsonValue, string] => [{ path }, message]),
  ])('answers %j with its error', async (input, message) => {
    await expect(read(input)).rejects.toEqual(new SkillError(message));
  });

  it('limits the size', async () => {
    await write({ path: 'a', content: '12345' });
    await expect(read({ path: 'a' }, 4)).rejects.toEqual(new SkillError('Skill file exceeds the 4 byte read limit'));
  });

  it('refuses a folder', async () => {
    await write({ path: 'a/b', content: 'x' });
    await expect(read({ path: 'a' })).rejects.toEqual(new SkillError('Skill file path must point to a file'));
  });
});
