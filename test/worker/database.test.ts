import { describe, expect, it, onTestFinished } from 'vitest';
import { startWorker } from '../../dev/worker.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeSkill } from '../support/make-skill.ts';

async function start(LIBSQL_URL: string): Promise<(body: unknown) => Promise<unknown>> {
  const entry = 'test/worker/fixtures/database-worker.ts';
  const worker = await startWorker({ port: 0, variables: { LIBSQL_URL }, entry, onCrash: () => {} });
  onTestFinished(() => worker.dispose());
  const url = await worker.ready;
  return async (body) => (await fetch(url, { method: 'POST', body: JSON.stringify(body) })).json();
}

const { id: _, ...skill } = makeSkill({ tags: ['é'] });

describe('the database in workerd', () => {
  it('is reached over http on loopback', async () => {
    const { url, close } = await createTestDatabase();
    onTestFinished(close);
    const send = await start(url);
    expect(await send(skill)).toMatchObject({ found: { name: 'weather', tags: ['é'], schema: skill.schema }, maxRounds: 3 });
    expect(await send(skill)).toEqual({ code: 'skill_exists' });
  });

  it('is reported as unavailable when it is not there', async () => {
    const send = await start('http://127.0.0.1:1');
    expect(await send(skill)).toEqual({ code: 'database_unavailable' });
  });
});
