import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createSettingsRepository, type SettingsRepository } from '../../src/db/settings-repository.ts';
import { DEFAULT_SETTINGS } from '../../src/settings.ts';
import { collectLog } from '../support/collect-log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const NOW = new Date('2026-03-04T05:06:07.008Z');

let database: TestDatabase;
let settings: SettingsRepository;
let entries: Record<string, unknown>[];
beforeEach(async () => {
  const collected = collectLog();
  entries = collected.entries;
  database = await createTestDatabase();
  onTestFinished(() => database.close());
  settings = createSettingsRepository(database.db, collected.log);
});

describe('createSettingsRepository', () => {
  it('begins with the defaults', async () => {
    expect(await settings.load()).toEqual(DEFAULT_SETTINGS);
  });

  it('stores what is given and answers all', async () => {
    const changed = { ...DEFAULT_SETTINGS, skillsEnabled: false, maxRounds: 3 };
    expect(await settings.put({ skillsEnabled: false, maxRounds: 3 }, NOW)).toEqual(changed);
    expect(await settings.load()).toEqual(changed);
    expect(await settings.put({ maxRounds: 4, skillsEnabled: undefined } as never, NOW)).toEqual({ ...changed, maxRounds: 4 });
    const { rows } = await database.client.execute('SELECT key, value, updated_at FROM settings ORDER BY key');
    expect(rows.map(({ key, value, updated_at }) => [key, value, updated_at])).toEqual([
      ['maxRounds', '4', NOW.toISOString()],
      ['skillsEnabled', 'false', NOW.toISOString()],
    ]);
  });

  it('answers all when nothing is given', async () => {
    expect(await settings.put({}, NOW)).toEqual(DEFAULT_SETTINGS);
  });

  it('stores all or nothing', async () => {
    await database.client.execute(
      "CREATE TRIGGER t BEFORE INSERT ON settings WHEN new.key = 'maxRounds' BEGIN SELECT raise(ABORT, 'no'); END",
    );
    await expect(settings.put({ skillsEnabled: false, maxRounds: 3 }, NOW)).rejects.toThrow();
    expect(await settings.load()).toEqual(DEFAULT_SETTINGS);
  });

  it.each([
    ['maxRounds', '{'],
    ['maxRounds', '"three"'],
    ['maxRounds', '0'],
    ['resultMode', '"sideways"'],
    ['fromTheFuture', 'true'],
    ['constructor', '1'],
  ])('logs and ignores a stored %s of %s', async (key, value) => {
    await settings.put({ autoMaxSkills: 7 }, NOW);
    await database.client.execute({ sql: "INSERT INTO settings VALUES (?, ?, '')", args: [key, value] });
    expect(await settings.load()).toEqual({ ...DEFAULT_SETTINGS, autoMaxSkills: 7 });
    expect(entries).toMatchObject([{ level: 'warn', event: 'settings.bad_value', key }]);
  });
});
