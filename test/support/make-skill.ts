import type { Skill } from '../../src/skills/skill.ts';

let count = 0;

/** A sound skill with an id of its own and whatever the test asks for. */
export function makeSkill(fields: Partial<Skill> = {}): Skill {
  count += 1;
  const mode = fields.mode ?? 'on';
  return {
    ...{ id: `skill-${count}`, apiKeyId: 'system', name: 'weather', version: '1.0.0', description: 'Tells the weather' },
    ...{
      schema: { input: { type: 'object' }, output: {} },
      handler: 'echo',
      kind: 'handler',
      enabled: mode !== 'off',
      mode,
      policy: 'auto',
    },
    ...{ sourceProvider: 'local', sourceUrl: null, contentSha256: null, tags: [], installCount: 0, timeoutMs: null, maxRetries: null },
    ...{ idempotent: false, riskFindings: [], createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' },
    ...fields,
  };
}
