import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createSkillRepository } from '../../src/db/skill-repository.ts';
import type { SkillStore } from '../../src/skills/skill-store.ts';
import { collectLog } from '../support/collect-log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeSkill } from '../support/make-skill.ts';

const NOW = new Date('2026-03-04T05:06:07.008Z');

let database: TestDatabase;
let skills: SkillStore;
let entries: Record<string, unknown>[];
beforeEach(async () => {
  const collected = collectLog();
  entries = collected.entries;
  database = await createTestDatabase();
  onTestFinished(() => database.close());
  skills = createSkillRepository(database.db, collected.log);
});

const insert = async (...fields: Parameters<typeof makeSkill>[0][]) => {
  for (const each of fields) await skills.insert(makeSkill(each));
};

describe('insert and get', () => {
  it('give a skill back as it was', async () => {
    const skill = makeSkill({
      ...{
        id: 'x',
        apiKeyId: 'key-1',
        schema: { input: { type: 'object', properties: { a: { type: 'string' } } }, output: { type: 'object' } },
      },
      ...{
        kind: 'instructions',
        mode: 'auto',
        policy: 'hybrid',
        sourceProvider: 'skillssh',
        sourceUrl: 'https://example.com',
        tags: ['é', '"'],
      },
      ...{
        contentSha256: 'ab',
        installCount: 12,
        timeoutMs: 5,
        maxRetries: 0,
        idempotent: true,
        riskFindings: [{ risk: 'secret', line: 3, text: 'é' }],
      },
    });
    await skills.insert(skill);
    expect(await skills.get('x')).toEqual(skill);
    expect(await skills.get('y')).toBeUndefined();
  });

  it('refuse the same name and version of the same owner only', async () => {
    await insert({}, { version: '1.0.1' }, { apiKeyId: 'key-1' });
    await expect(insert({})).rejects.toMatchObject({ code: 'skill_exists', message: 'weather@1.0.0 is installed already' });
  });

  it('pass other faults of the database on', async () => {
    await expect(insert({ id: 'x', mode: 'on', enabled: false })).rejects.toMatchObject({
      code: expect.stringContaining('SQLITE_CONSTRAINT'),
    });
  });
});

describe('listVisible', () => {
  it("gives the owner's own and the system ones, and nothing of other keys", async () => {
    await insert({ id: 'sys', name: 'b' }, { id: 'own', apiKeyId: 'key-1', name: 'c' }, { id: 'other', apiKeyId: 'key-2', name: 'a' });
    const ids = async (owner: string) => (await skills.listVisible(owner)).map(({ id }) => id);
    expect(await ids('key-1')).toEqual(['own', 'sys']);
    expect(await ids('key-2')).toEqual(['other', 'sys']);
    expect(await ids('anonymous')).toEqual(['sys']);
    expect(await ids('system')).toEqual(['sys']);
  });

  it('hides a system skill behind an own one of the same name and version', async () => {
    await insert({ id: 'sys-1' }, { id: 'sys-2', version: '2.0.0' }, { id: 'own-1', apiKeyId: 'key-1' });
    expect((await skills.listVisible('key-1')).map(({ id }) => id)).toEqual(['own-1', 'sys-2']);
    expect((await skills.listVisible('key-2')).map(({ id }) => id)).toEqual(['sys-1', 'sys-2']);
  });

  it('finds by id or name, within what the owner sees', async () => {
    await insert(
      { id: 'sys', name: 'a' },
      { id: 'own', apiKeyId: 'key-1', name: 'b' },
      { id: 'own-2', apiKeyId: 'key-1', name: 'b', version: '2.0.0' },
    );
    expect((await skills.listVisible('key-1', 'b')).map(({ id }) => id)).toEqual(['own', 'own-2']);
    expect((await skills.listVisible('key-1', 'sys')).map(({ id }) => id)).toEqual(['sys']);
    expect(await skills.listVisible('key-2', 'own')).toEqual([]);
    expect(await skills.listVisible('key-2', 'b')).toEqual([]);
  });

  it('leaves out the texts of instructions, which `get` has', async () => {
    await insert({ id: 'text', kind: 'instructions', handler: 'Long text' }, { id: 'code', name: 'code', handler: 'echo' });
    expect((await skills.listVisible('key-1')).map(({ id, handler }) => [id, handler])).toEqual([
      ['code', 'echo'],
      ['text', ''],
    ]);
    expect((await skills.get('text'))?.handler).toBe('Long text');
  });

  it.each([
    ['schema', '{'],
    ['schema', '{"input":{}}'],
    ['schema', '[]'],
    ['tags', 'null'],
    ['tags', '[1]'],
    ['tags', '{'],
    ['risk_findings', '{'],
    ['risk_findings', '[{"risk":"unheard_of","line":1,"text":""}]'],
  ])('logs and leaves out a row whose %s is %s', async (column, value) => {
    await insert({ id: 'good' }, { id: 'bad', version: '2.0.0' });
    await database.client.execute({ sql: `UPDATE skills SET ${column} = ? WHERE id = 'bad'`, args: [value] });
    expect((await skills.listVisible('key-1')).map(({ id }) => id)).toEqual(['good']);
    expect(entries).toMatchObject([{ level: 'warn', event: 'skills.registry.bad_row', skillId: 'bad', column }]);
    expect(await skills.get('bad')).toBeUndefined();
    expect((await skills.listPage({}, 1, 10)).data.map(({ id }) => id)).toEqual(['good']);
    expect((await skills.listPage({ q: 'weather' }, 1, 10)).data.map(({ id }) => id)).toEqual(['good']);
  });
});

describe('listPage', () => {
  it('pages by name and version with the total', async () => {
    await insert(
      { id: 'c', name: 'c' },
      { id: 'a2', name: 'a', version: '2.0.0' },
      { id: 'a1', name: 'a' },
      { id: 'b', name: 'b', apiKeyId: 'key-1' },
    );
    const page = async (number: number) => {
      const { data, total } = await skills.listPage({}, number, 3);
      return [data.map(({ id }) => id), total];
    };
    expect(await page(1)).toEqual([['a1', 'a2', 'b'], 4]);
    expect(await page(2)).toEqual([['c'], 4]);
    expect(await page(3)).toEqual([[], 4]);
  });

  it('filters by mode and source', async () => {
    await insert(
      { id: 'a', name: 'a' },
      { id: 'b', name: 'b', mode: 'off' },
      { id: 'c', name: 'c', mode: 'off', sourceProvider: 'skillsmp' },
    );
    const ids = async (filter: Parameters<SkillStore['listPage']>[0]) => (await skills.listPage(filter, 1, 10)).data.map(({ id }) => id);
    expect(await ids({ mode: 'off' })).toEqual(['b', 'c']);
    expect(await ids({ source: 'local' })).toEqual(['a', 'b']);
    expect(await ids({ mode: 'off', source: 'skillsmp' })).toEqual(['c']);
    expect(await ids({ mode: 'off', source: 'skillsmp', q: 'nothing' })).toEqual([]);
    expect(await ids({ mode: 'auto' })).toEqual([]);
  });

  it.each([
    ['CAFÉ', ['cafe']],
    ['cafe', ['cafe']],
    ['Ångström', ['unit']],
    ['angstrom  METER', ['unit']],
    ['STRASSE', ['tagged']],
    ['ΟΔΟΣ', ['greek']],
    ['%', []],
    ['_', []],
    ['[', []],
    ['"', []],
    ['   ', ['cafe', 'greek', 'tagged', 'unit']],
  ])('finds %j', async (q, found) => {
    await insert(
      { id: 'cafe', name: 'a.Café', description: '', tags: [] },
      { id: 'greek', name: 'b', description: 'οδος', tags: ['x', 'y'] },
      { id: 'tagged', name: 'c', description: '', tags: ['Straße'] },
      { id: 'unit', name: 'd', description: 'Converts ÅNGSTRÖM', tags: ['meter'] },
    );
    const { data, total } = await skills.listPage({ q }, 1, 10);
    expect(data.map(({ id }) => id)).toEqual(found);
    expect(total).toBe(found.length);
  });

  it('pages what it finds', async () => {
    await insert({ id: '1', name: 'n1' }, { id: '2', name: 'n2' }, { id: '3', name: 'x', description: '' }, { id: '4', name: 'n4' });
    const { data, total } = await skills.listPage({ q: 'n' }, 2, 2);
    expect([data.map(({ id }) => id), total]).toEqual([['4'], 3]);
  });
});

describe('update', () => {
  it('changes what is given and nothing else', async () => {
    await insert({ id: 'x', timeoutMs: 5 });
    const before = await skills.get('x');
    const changes = {
      policy: 'manual',
      description: 'New',
      tags: ['t'],
      schema: { input: { a: 1 }, output: { b: 2 } },
      maxRetries: 4,
    } as const;
    const after = await skills.update('x', { ...changes, tags: ['t'] }, NOW);
    expect(after).toEqual({ ...before, ...changes, updatedAt: NOW.toISOString() });
    expect(await skills.get('x')).toEqual(after);
    expect(await skills.update('x', { timeoutMs: null }, NOW)).toMatchObject({ timeoutMs: null, maxRetries: 4 });
  });

  it('knows no unknown id', async () => {
    expect(await skills.update('nobody', { enabled: false }, NOW)).toBeUndefined();
  });

  it.each([
    ['on', { enabled: false }, 'off'],
    ['auto', { enabled: false }, 'off'],
    ['off', { enabled: true }, 'on'],
    ['auto', { enabled: true }, 'auto'],
    ['off', { mode: 'auto' }, 'auto'],
    ['on', { mode: 'off' }, 'off'],
    ['on', { mode: 'auto', enabled: false }, 'auto'],
    ['on', { mode: 'off', enabled: true }, 'off'],
    ['off', { policy: 'manual' }, 'off'],
  ] as const)('takes %s by %j to %s', async (mode, changes, expected) => {
    await insert({ id: 'x', mode });
    expect(await skills.update('x', changes, NOW)).toMatchObject({ mode: expected, enabled: expected !== 'off' });
  });

  it.each([{ enabled: false }, { mode: 'off' }] as const)('brings auto back after %j', async (off) => {
    await insert({ id: 'x', mode: 'auto' });
    await skills.update('x', off, NOW);
    await skills.update('x', off, NOW);
    expect(await skills.update('x', { enabled: true }, NOW)).toMatchObject({ mode: 'auto', enabled: true });
    await skills.update('x', { mode: 'on' }, NOW);
    await skills.update('x', off, NOW);
    expect(await skills.update('x', { enabled: true }, NOW)).toMatchObject({ mode: 'on', enabled: true });
  });
});

describe('delete', () => {
  it('removes one skill and keeps its executions', async () => {
    await insert({ id: 'x' }, { id: 'y', version: '2.0.0' });
    await database.client.execute(
      `INSERT INTO skill_executions (id, skill_id, skill_name, skill_version, api_key_id, request_id, call_id, input, status, created_at)
       VALUES ('e', 'x', 'weather', '1.0.0', 'key-1', 'r', 'c', '{}', 'success', '')`,
    );
    expect(await skills.delete('x')).toBe(true);
    expect(await skills.delete('x')).toBe(false);
    expect((await skills.listVisible('key-1')).map(({ id }) => id)).toEqual(['y']);
    expect((await database.client.execute('SELECT skill_id, skill_name FROM skill_executions')).rows[0]).toMatchObject({
      ...{ skill_id: null, skill_name: 'weather' },
    });
  });
});
