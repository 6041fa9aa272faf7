import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSuspendedTurnRepository } from '../../src/db/suspended-turn-repository.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let time: number;
beforeEach(async () => {
  database = await createTestDatabase();
  time = Date.parse('2026-11-30T00:00:00Z');
});
afterEach(() => database.close());

const open = () => createSuspendedTurnRepository(database.db, { now: () => new Date(time) });
const turn = { id: 'turn-1', apiKeyId: 'key-1', transcript: [{ role: 'assistant', content: 'é 🤷' }, null, 1.5], expiresInMs: 1_000 };

it("gives back the owner's turns among the ids that are asked for", async () => {
  const turns = open();
  await turns.save(turn);
  await turns.save({ ...turn, id: 'turn-2', transcript: 'text' });
  await turns.save({ ...turn, id: 'turn-3' });
  await turns.save({ ...turn, id: 'turn-4', apiKeyId: 'key-2' });
  expect(await turns.load(['turn-1', 'turn-2', 'turn-4', 'turn-5'], 'key-1')).toEqual(
    new Map<string, unknown>([
      ['turn-1', turn.transcript],
      ['turn-2', 'text'],
    ]),
  );
  expect(await turns.load([], 'key-1')).toEqual(new Map());
});

it('forgets a turn when its time is over', async () => {
  const turns = open();
  await turns.save(turn);
  time += 999;
  expect((await turns.load(['turn-1'], 'key-1')).size).toBe(1);
  time += 1;
  expect((await turns.load(['turn-1'], 'key-1')).size).toBe(0);
});

it('deletes what is over and keeps the rest', async () => {
  const turns = open();
  await turns.save(turn);
  await turns.save({ ...turn, id: 'turn-2', expiresInMs: 2_000 });
  expect(await turns.deleteExpired(new Date(time + 1_000))).toBe(1);
  expect([...(await turns.load(['turn-1', 'turn-2'], 'key-1')).keys()]).toEqual(['turn-2']);
});

it('says when the database is gone', async () => {
  const turns = open();
  await database.close();
  await expect(turns.save(turn)).rejects.toMatchObject({ code: 'database_unavailable' });
  await expect(turns.load(['turn-1'], 'key-1')).rejects.toMatchObject({ code: 'database_unavailable' });
});
