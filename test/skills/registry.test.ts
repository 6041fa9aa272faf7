import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/db/client.ts';
import { createSkillRepository } from '../../src/db/skill-repository.ts';
import { compileSkillOffers } from '../../src/gateway/offered-skills.ts';
import { createRegistry, type NewSkill, type Registry } from '../../src/skills/registry.ts';
import { createScoringMemory } from '../../src/skills/scoring-memory.ts';
import type { Skill } from '../../src/skills/skill.ts';
import { collectLog } from '../support/collect-log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeSkill } from '../support/make-skill.ts';

let database: TestDatabase;
let registry: Registry<string>;
/** Another isolate's registry over the same database. */
let elsewhere: Registry<string>;
let entries: Record<string, unknown>[];
let time: number;
let queries: number;
let compiled: number;
let isDown: boolean;

beforeEach(async () => {
  const { log, entries: collected } = collectLog();
  entries = collected;
  [time, queries, compiled, isDown] = [0, 0, 0, false];
  database = await createTestDatabase();
  onTestFinished(() => database.close());
  const counting: typeof fetch = (...call) => {
    queries += 1;
    return isDown ? Promise.reject(new TypeError('down')) : fetch(...call);
  };
  const options = { now: () => new Date(time), newId: () => crypto.randomUUID(), log };
  const compile = (skills: readonly Skill[]) => {
    compiled += 1;
    return skills.map(({ id }) => id).join();
  };
  registry = createRegistry({
    ...options,
    compile,
    skills: createSkillRepository(openDatabase({ url: database.url, fetch: counting }), log),
  });
  elsewhere = createRegistry({ ...options, compile: () => '', skills: createSkillRepository(database.db, log) });
});

function newSkill(fields: Partial<Skill> = {}): NewSkill {
  const { id: _id, enabled: _enabled, createdAt: _createdAt, updatedAt: _updatedAt, ...skill } = makeSkill(fields);
  return skill;
}

const names = async (owner = 'key-1') => (await registry.catalogue(owner)).skills.map(({ name }) => name);

describe('catalogue', () => {
  it('keeps what was compiled while the skills stay the same', async () => {
    const { id } = await registry.install(newSkill());
    const first = await registry.catalogue('key-1');
    time += 31_000;
    let background: Promise<unknown> = Promise.resolve();
    await registry.catalogue('key-1', (work) => {
      background = work;
    });
    await background;
    expect([await registry.catalogue('key-1'), compiled]).toEqual([first, 1]);
    await elsewhere.update(id, { description: 'changed' });
    time += 31_000;
    await registry.catalogue('key-1', (work) => {
      background = work;
    });
    await background;
    expect([(await registry.catalogue('key-1')).skills[0]?.description, compiled]).toEqual(['changed', 2]);
  });

  it('loads once for concurrent callers, and compiles once per load', async () => {
    await registry.install(newSkill());
    queries = 0;
    const catalogues = await Promise.all(Array.from({ length: 50 }, () => registry.catalogue('key-1')));
    expect(new Set(catalogues).size).toBe(1);
    await registry.catalogue('key-1');
    expect([queries, compiled]).toEqual([1, 1]);
    expect(catalogues[0]?.compiled).toBe(catalogues[0]?.skills[0]?.id);
  });

  it('waits for a compile that takes its time', async () => {
    const { log } = collectLog();
    const slow = createRegistry({
      compile: (skills: readonly Skill[]) => new Promise<number>((resolve) => setTimeout(() => resolve(skills.length), 1)),
      now: () => new Date(time),
      newId: () => 'x',
      log,
      skills: createSkillRepository(database.db, log),
    });
    expect((await slow.catalogue('key-1')).compiled).toBe(0);
  });

  it('keeps each owner apart', async () => {
    await registry.install(newSkill({ name: 'shared' }));
    await registry.install(newSkill({ name: 'mine', apiKeyId: 'key-1' }));
    await registry.install(newSkill({ name: 'theirs', apiKeyId: 'key-2' }));
    expect(await names('key-1')).toEqual(['mine', 'shared']);
    expect(await names('key-2')).toEqual(['theirs', 'shared']);
    expect(await names('anonymous')).toEqual(['shared']);
  });

  it("shows other isolates' changes after 60 s at the latest, and refreshes in the background from 30 s on", async () => {
    expect(await names()).toEqual([]);
    await elsewhere.install(newSkill({ name: 'new' }));
    time = 29_999;
    const work: Promise<unknown>[] = [];
    await registry.catalogue('key-1', (promise) => work.push(promise));
    expect([work.length, queries]).toEqual([0, 1]);
    time = 30_000;
    const warm = await registry.catalogue('key-1', (promise) => work.push(promise));
    expect(warm.skills).toEqual([]);
    expect(work).toHaveLength(1);
    await Promise.all(work);
    expect([await names(), queries]).toEqual([['new'], 2]);
  });

  it('waits for the database when what it has is 60 s old', async () => {
    expect(await names()).toEqual([]);
    await elsewhere.install(newSkill({ name: 'new' }));
    time = 60_000;
    expect(await names()).toEqual(['new']);
  });

  it('lives on what it has while the database is down, up to 60 s', async () => {
    await registry.install(newSkill({ name: 'kept' }));
    expect(await names()).toEqual(['kept']);
    isDown = true;
    time = 45_000;
    const work: Promise<unknown>[] = [];
    await registry.catalogue('key-1', (promise) => work.push(promise));
    await Promise.all(work);
    time = 59_999;
    expect(await names()).toEqual(['kept']);
    time = 60_000;
    await expect(registry.catalogue('key-1')).rejects.toMatchObject({ code: 'database_unavailable' });
    await expect(registry.catalogue('key-3')).rejects.toMatchObject({ code: 'database_unavailable' });
    expect(entries).toContainEqual(expect.objectContaining({ level: 'error', event: 'skills.registry.load_failed' }));
    isDown = false;
    expect(await names()).toEqual(['kept']);
  });

  it.each([
    ['schema', '{'],
    ['schema', ''],
    ['schema', 'null'],
    ['schema', '[]'],
    ['schema', '{"input":{}}'],
    ['schema', '{"input":1,"output":{}}'],
    ['tags', 'x'],
    ['tags', '{}'],
    ['tags', '[1]'],
  ])('loads although one row has the %s %j', async (column, value) => {
    const bad = await registry.install(newSkill({ name: 'bad' }));
    await registry.install(newSkill({ name: 'good' }));
    await database.client.execute({ sql: `UPDATE skills SET ${column} = ? WHERE id = ?`, args: [value, bad.id] });
    expect(await names()).toEqual(['good']);
    expect(await registry.find('bad', 'key-1')).toBeUndefined();
    expect(entries).toContainEqual(expect.objectContaining({ event: 'skills.registry.bad_row', skillId: bad.id, column }));
  });

  it('offers the others although a row that came from elsewhere has a name or version like none of ours', async () => {
    const { log } = collectLog();
    const gateway = createRegistry({
      ...{ compile: (visible) => compileSkillOffers(visible, createScoringMemory()), now: () => new Date(time), newId: () => 'x', log },
      skills: createSkillRepository(database.db, log),
    });
    const odd = await registry.install(newSkill({ name: 'odd', mode: 'auto' }));
    await registry.install(newSkill({ name: 'good' }));
    await database.client.execute({ sql: "UPDATE skills SET name = '', version = 'v?', description = '' WHERE id = ?", args: [odd.id] });
    const { compiled, skills } = await gateway.catalogue('key-1');
    expect(skills).toHaveLength(2);
    expect(compiled.all.on.map(({ key }) => key)).toEqual(['good@1.0.0']);
  });
});

describe('writes', () => {
  it('show at once', async () => {
    expect(await names()).toEqual([]);
    const installed = await registry.install(newSkill({ name: 'a', mode: 'auto' }));
    expect(installed).toMatchObject({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), enabled: true, createdAt: '1970-01-01T00:00:00.000Z' });
    expect((await registry.catalogue('key-1')).skills).toEqual([installed]);
    time = 5;
    const updated = await registry.update(installed.id, { enabled: false });
    expect(updated).toEqual({ ...installed, enabled: false, mode: 'off', updatedAt: '1970-01-01T00:00:00.005Z' });
    expect((await registry.catalogue('key-1')).skills).toEqual([updated]);
    expect(await registry.remove(installed.id)).toBe(true);
    expect(await names()).toEqual([]);
  });

  it('say when there is nothing to write on', async () => {
    expect(await registry.update('nobody', { enabled: false })).toBeUndefined();
    expect(await registry.remove('nobody')).toBe(false);
    await registry.install(newSkill({ mode: 'off' }));
    await expect(registry.install(newSkill())).rejects.toMatchObject({ code: 'skill_exists' });
  });

  it('are not undone by a load that began before them', async () => {
    const early = registry.catalogue('key-1');
    const installed = registry.install(newSkill({ name: 'new' }));
    await Promise.all([early, installed]);
    expect(await names()).toEqual(['new']);
  });
});

describe('find and resolveVersion', () => {
  let ids: Record<string, string>;
  beforeEach(async () => {
    ids = {};
    for (const [label, fields] of Object.entries({
      'system 1': { version: '1.0.0' },
      'system 1.5': { version: '1.5.0' },
      'own 1': { version: '1.0.0', apiKeyId: 'key-1' },
      'own 2': { version: '2.0.0', apiKeyId: 'key-1', mode: 'off' },
      'other 3': { version: '3.0.0', apiKeyId: 'key-2' },
    } as const)) {
      ids[label] = (await registry.install(newSkill(fields))).id;
    }
  });
  const labelOf = (skill: Skill | undefined) => Object.keys(ids).find((label) => ids[label] === skill?.id);

  it.each([
    ['weather', 'own 2'],
    ['weather@latest', 'own 2'],
    ['weather@1.0.0', 'own 1'],
    ['weather@==1.5.0', 'system 1.5'],
    ['weather@^1', 'system 1.5'],
    ['weather@<1.5', 'own 1'],
    ['weather@3.0.0', undefined],
    ['weather@nonsense', undefined],
    ['weathe', undefined],
    ['', undefined],
    ['@1.0.0', undefined],
  ])('find %j', async (reference, label) => {
    expect(labelOf(await registry.find(reference, 'key-1'))).toBe(label);
  });

  it('finds by id what the owner sees, and nothing else', async () => {
    const byId = async (label: string, owner: string) => labelOf(await registry.find(ids[label] ?? '', owner));
    expect(await byId('own 1', 'key-1')).toBe('own 1');
    expect(await byId('system 1.5', 'key-1')).toBe('system 1.5');
    expect(await byId('system 1', 'key-1')).toBeUndefined();
    expect(await byId('other 3', 'key-1')).toBeUndefined();
    expect(await byId('own 1', 'key-2')).toBeUndefined();
    expect(await byId('own 1', 'anonymous')).toBeUndefined();
  });

  it('resolves within what the owner sees', async () => {
    expect(labelOf(await registry.resolveVersion('weather', '*', 'key-1'))).toBe('own 2');
    expect(labelOf(await registry.resolveVersion('weather', '*', 'key-2'))).toBe('other 3');
    expect(labelOf(await registry.resolveVersion('weather', '*', 'anonymous'))).toBe('system 1.5');
    expect(labelOf(await registry.resolveVersion('weather', '1.0.0', 'anonymous'))).toBe('system 1');
    expect(await registry.resolveVersion('weather', '>9', 'key-1')).toBeUndefined();
  });

  it('finds at once what another isolate has just installed', async () => {
    await registry.catalogue('key-1');
    const { id } = await elsewhere.install(newSkill({ name: 'fresh' }));
    expect((await registry.find('fresh@^1', 'key-1'))?.id).toBe(id);
    expect((await registry.find(id, 'key-1'))?.id).toBe(id);
    expect((await registry.resolveVersion('fresh', 'latest', 'key-1'))?.id).toBe(id);
  });

  it('refreshes in the background too', async () => {
    await registry.catalogue('key-1');
    time = 30_000;
    const work: Promise<unknown>[] = [];
    await registry.find('weather', 'key-1', (promise) => work.push(promise));
    expect(work).toHaveLength(1);
    await Promise.all(work);
  });

  it('does not ask the database for what it knows', async () => {
    await registry.catalogue('key-1');
    queries = 0;
    await registry.find('weather@^1', 'key-1');
    expect(queries).toBe(0);
  });
});
