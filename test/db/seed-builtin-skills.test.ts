import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { seedBuiltinSkills } from '../../src/db/seed-builtin-skills.ts';
import { createSkillRepository } from '../../src/db/skill-repository.ts';
import { type BuiltinSkill, defineSkill } from '../../src/skills/define.ts';
import { collectLog } from '../support/collect-log.ts';
import { createTestDatabase } from '../support/database.ts';
import { makeSkill } from '../support/make-skill.ts';

const builtin = (fields: Partial<BuiltinSkill> = {}): BuiltinSkill => ({
  ...defineSkill({
    ...{ name: 'clock', version: '1.0.0', description: 'Tells the time', tags: ['time'], mode: 'auto', policy: 'hybrid', idempotent: true },
    ...{ timeoutMs: 500, input: z.object({}), output: z.object({}), execute: () => Promise.resolve({}) },
  }),
  ...fields,
});

async function open() {
  const { db, close } = await createTestDatabase();
  onTestFinished(close);
  const skills = createSkillRepository(db, collectLog().log);
  let seconds = 0;
  let id = 0;
  const seed = (builtins: BuiltinSkill[]) =>
    seedBuiltinSkills(db, builtins, { newId: () => `id-${++id}`, now: () => new Date(Date.UTC(2026, 0, 1, 0, 0, ++seconds)) });
  return { skills, seed };
}

describe('seedBuiltinSkills', () => {
  it('stores a new skill for everyone', async () => {
    const { skills, seed } = await open();
    await seed([builtin(), builtin({ name: 'off', mode: 'off', timeoutMs: null })]);
    expect(await skills.get('id-1')).toEqual({
      ...{ id: 'id-1', apiKeyId: 'system', name: 'clock', version: '1.0.0', description: 'Tells the time', schema: builtin().schema },
      ...{ handler: 'clock', kind: 'builtin', enabled: true, mode: 'auto', policy: 'hybrid', sourceProvider: 'builtin', sourceUrl: null },
      ...{ contentSha256: null, tags: ['time'], installCount: 0, timeoutMs: 500, maxRetries: null, idempotent: true, riskFindings: [] },
      ...{ createdAt: '2026-01-01T00:00:01.000Z', updatedAt: '2026-01-01T00:00:01.000Z' },
    });
    expect(await skills.get('id-2')).toMatchObject({ mode: 'off', enabled: false, timeoutMs: null });
  });

  it("updates what is the product's and leaves what is the operator's", async () => {
    const { skills, seed } = await open();
    await seed([builtin()]);
    await skills.update('id-1', { mode: 'off', policy: 'manual', maxRetries: 7 }, new Date('2026-01-02T00:00:00.000Z'));
    const schema = { input: { type: 'object', title: 'new' }, output: {} };
    await seed([builtin({ description: 'New', schema, tags: ['a', 'b'], idempotent: false, timeoutMs: 900, mode: 'on', policy: 'auto' })]);
    expect(await skills.get('id-1')).toMatchObject({
      ...{ description: 'New', schema, tags: ['a', 'b'], idempotent: false, timeoutMs: 900, updatedAt: '2026-01-01T00:00:02.000Z' },
      ...{ mode: 'off', enabled: false, policy: 'manual', maxRetries: 7, createdAt: '2026-01-01T00:00:01.000Z' },
    });
  });

  it('does not touch what is as it should be', async () => {
    const { skills, seed } = await open();
    await seed([builtin()]);
    await seed([builtin()]);
    expect((await skills.listPage({}, 1, 10)).data).toMatchObject([{ id: 'id-1', updatedAt: '2026-01-01T00:00:01.000Z' }]);
  });

  it('keeps versions that the product no longer has', async () => {
    const { skills, seed } = await open();
    await seed([builtin()]);
    await seed([builtin({ version: '1.1.0' })]);
    await seed([]);
    expect((await skills.listPage({}, 1, 10)).data.map((skill) => skill.version)).toEqual(['1.0.0', '1.1.0']);
  });

  it('leaves a skill that an operator installed under the same name and version', async () => {
    const { skills, seed } = await open();
    await skills.insert(makeSkill({ id: 'own', name: 'clock', description: 'Mine' }));
    await seed([builtin()]);
    expect((await skills.listPage({}, 1, 10)).data).toMatchObject([{ id: 'own', kind: 'handler', description: 'Mine' }]);
  });
});
