import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createWorkspace, workspaceId } from '../../src/db/workspace-repository.ts';
import { SkillError, type Workspace } from '../../src/skills/define.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let workspace: Workspace;
let now = new Date('2026-01-02T03:04:05.678Z');

const QUOTA = { maxBytes: 1_000, maxFiles: 5 };
const MAX = 600;
const open = (apiKeyId = 'key-1', quota = QUOTA) =>
  createWorkspace(database.db, { apiKeyId, loadQuota: async () => quota, now: () => now });
const bytesOf = (text: string) => new TextEncoder().encode(text);

const write = (path: string, content: string | Uint8Array, options: { append?: boolean; overwrite?: boolean } = {}, to = workspace) =>
  to.write(path, typeof content === 'string' ? bytesOf(content) : content, { append: false, overwrite: true, maxBytes: MAX, ...options });
const read = async (path: string, from = workspace) => new TextDecoder().decode(await from.read(path, MAX));
const rows = async () =>
  (
    await database.client.execute(
      'SELECT workspace, path, size_bytes, length(content) AS stored, typeof(content) AS type, created_at, updated_at FROM workspace_files',
    )
  ).rows.map((row) => ({ ...row }));

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.client.execute('DELETE FROM workspace_files');
  now = new Date('2026-01-02T03:04:05.678Z');
  workspace = open();
});

describe('workspaceId', () => {
  it.each(['key-1', 'anonymous', ''])('is the start of the SHA-256 of %j', async (apiKeyId) => {
    expect(await workspaceId(apiKeyId)).toBe(createHash('sha256').update(apiKeyId).digest('hex').slice(0, 24));
  });
});

describe('createWorkspace', () => {
  it('reads what was written, under the path as it is kept', async () => {
    expect(await write('./a//b.txt', 'hello')).toEqual({ path: 'a/b.txt' });
    expect(await read('a\\b.txt')).toBe('hello');
    expect(await rows()).toEqual([
      {
        workspace: await workspaceId('key-1'),
        path: 'a/b.txt',
        size_bytes: 5,
        stored: 5,
        type: 'blob',
        created_at: '2026-01-02T03:04:05.678Z',
        updated_at: '2026-01-02T03:04:05.678Z',
      },
    ]);
  });

  it('replaces, and appends, and keeps the time of creation', async () => {
    await write('a.txt', 'first');
    now = new Date('2026-01-02T04:00:00.000Z');
    await write('a.txt', 'second');
    await write('a.txt', ', third', { append: true });
    expect(await read('a.txt')).toBe('second, third');
    expect(await rows()).toMatchObject([
      { size_bytes: 13, stored: 13, type: 'blob', created_at: '2026-01-02T03:04:05.678Z', updated_at: '2026-01-02T04:00:00.000Z' },
    ]);
  });

  it('creates a file by appending to none, and appends although overwrite is off', async () => {
    await write('log', 'a', { append: true, overwrite: false });
    await write('log', 'b', { append: true, overwrite: false });
    expect(await read('log')).toBe('ab');
  });

  it('keeps an empty file', async () => {
    await write('empty', '');
    expect(await workspace.read('empty', MAX)).toEqual(new Uint8Array());
    expect(await rows()).toMatchObject([{ size_bytes: 0, stored: 0 }]);
  });

  it('keeps any bytes, also when they are appended', async () => {
    const bytes = fc.uint8Array({ maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(bytes, bytes, async (first, second) => {
        await write('data.bin', first);
        await write('data.bin', second, { append: true });
        expect(await workspace.read('data.bin', MAX)).toEqual(new Uint8Array([...first, ...second]));
      }),
      { numRuns: 25 },
    );
  });

  it('loses nothing when many append at once', async () => {
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index}\n`);
    await Promise.all(lines.map((line) => write('log', line, { append: true }, open())));
    const kept = (await read('log')).split('\n').slice(0, -1);
    expect(kept.sort()).toEqual(lines.map((line) => line.trimEnd()).sort());
  });

  it('lets no more through than the limits allow when many write at once', async () => {
    const writes = await Promise.allSettled([
      ...Array.from({ length: 10 }, (_, index) => write(`file-${index}`, 'x', {}, open('key-2'))),
      ...Array.from({ length: 10 }, () => write('log', 'x'.repeat(100), { append: true }, open('key-3'))),
    ]);
    const done = writes.map(({ status }) => status === 'fulfilled');
    expect(done.slice(0, 10).filter(Boolean)).toHaveLength(QUOTA.maxFiles);
    expect(done.slice(10).filter(Boolean)).toHaveLength(6);
    expect(await read('log', open('key-3'))).toHaveLength(MAX);
  });

  it('shows one key nothing of another', async () => {
    await write('a.txt', 'mine');
    await expect(read('a.txt', open('key-2'))).rejects.toEqual(new SkillError('Skill file not found: a.txt'));
    await write('a.txt', 'other', {}, open('key-2'));
    expect(await read('a.txt')).toBe('mine');
  });

  it('tells of a file that is not there or too large to read', async () => {
    await expect(workspace.read('a/b.txt', MAX)).rejects.toEqual(new SkillError('Skill file not found: a/b.txt'));
    await write('a.txt', '12345');
    expect(await workspace.read('a.txt', 5)).toHaveLength(5);
    await expect(workspace.read('a.txt', 4)).rejects.toEqual(new SkillError('Skill file exceeds the 4 byte read limit'));
  });

  it('leaves an existing file alone without overwrite', async () => {
    await write('a.txt', 'first', { overwrite: false });
    await expect(write('a.txt', 'second', { overwrite: false })).rejects.toEqual(new SkillError('Skill file already exists: a.txt'));
    expect(await read('a.txt')).toBe('first');
  });

  it('limits the size of a file, appends included', async () => {
    const tooLarge = new SkillError('Skill file write exceeds the 600 byte limit');
    await expect(write('a.txt', 'x'.repeat(601))).rejects.toEqual(tooLarge);
    await write('a.txt', 'x'.repeat(599));
    await expect(write('a.txt', 'xx', { append: true })).rejects.toEqual(tooLarge);
    await write('a.txt', 'x', { append: true });
    expect(await read('a.txt')).toHaveLength(600);
  });

  it('limits the number of files', async () => {
    for (let index = 0; index < 5; index++) await write(`file-${index}`, 'x');
    await expect(write('one-more', 'x')).rejects.toEqual(new SkillError('Skill workspace is full: at most 5 files'));
    await write('file-0', 'still writable');
  });

  it('limits the bytes of all files, and lets a file shrink past a limit that was lowered', async () => {
    await write('a.txt', 'x'.repeat(600));
    const full = new SkillError('Skill workspace is full: at most 1000 bytes');
    await expect(write('b.txt', 'x'.repeat(401))).rejects.toEqual(full);
    await write('b.txt', 'x'.repeat(400));
    await expect(write('b.txt', 'x', { append: true })).rejects.toEqual(full);
    await write('a.txt', 'x'.repeat(600));
    await write('a.txt', 'x'.repeat(500), {}, open('key-1', { maxBytes: 100, maxFiles: 1 }));
    expect(await read('a.txt')).toHaveLength(500);
  });

  it('keeps files and folders apart', async () => {
    const notAFile = new SkillError('Skill file path must point to a file');
    await write('a/b/c.txt', 'x');
    for (const folder of ['a', 'a/b']) {
      await expect(write(folder, 'x')).rejects.toEqual(notAFile);
      await expect(workspace.read(folder, MAX)).rejects.toEqual(notAFile);
    }
    await expect(write('a/b/c.txt/d.txt', 'x')).rejects.toEqual(notAFile);
    await write('a/b0', 'x');
    await write('a-b', 'x');
    expect((await rows()).map(({ path }) => path).sort()).toEqual(['a-b', 'a/b/c.txt', 'a/b0']);
  });

  it.each([
    ['/etc/passwd', 'Skill file paths must be relative to the skill workspace'],
    ['../a.txt', 'Skill file path escapes the skill workspace'],
    ['.ssh/id_ed25519', 'Skill file path contains a restricted segment'],
    ['a/', 'Skill file path must point to a file'],
  ])('refuses %s before it asks the database', async (path, message) => {
    const unreachable = createWorkspace({} as typeof database.db, { apiKeyId: 'key-1', loadQuota: async () => QUOTA, now: () => now });
    await expect(unreachable.read(path, MAX)).rejects.toEqual(new SkillError(message));
    await expect(write(path, 'x', {}, unreachable)).rejects.toEqual(new SkillError(message));
  });

  it('adds up a workspace from its index, without reading the files', async () => {
    const plan = await database.client.execute(
      "EXPLAIN QUERY PLAN SELECT count(*), sum(size_bytes) FROM workspace_files WHERE workspace = 'w'",
    );
    expect(plan.rows.map((row) => row.detail)).toEqual([expect.stringContaining('COVERING INDEX workspace_files_usage')]);
  });
});
