import type { skills } from '../src/db/schema.ts';
import { TOPIC_WORDS } from './prose.ts';
import { createRandom, type Random } from './random.ts';

type SkillRow = typeof skills.$inferInsert;

/** How many of a catalogue's skills are always offered; the others are offered when they score. */
export const countOn = (skillCount: number): number => Math.min(10, Math.ceil(skillCount / 5));

const schema = {
  input: {
    type: 'object',
    properties: {
      text: { type: 'string', description: 'What the work is about, in plain words.' },
      limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many entries to answer at most.' },
      order: { type: 'string', enum: ['newest', 'oldest', 'best'], description: 'In which order they are wanted.' },
    },
    required: ['text'],
  },
  output: {},
};

const words = (random: Random, count: number): string[] => Array.from({ length: count }, () => random.pick(TOPIC_WORDS));

/**
 * One owner's skills: the first is `bench_echo`, which the mock upstream calls and which does nothing. The words of their names, tags and
 * descriptions are those that the requests are made of, so that many of them score.
 */
export function makeSkills(apiKeyId: string, count: number): SkillRow[] {
  const random = createRandom(count + 1);
  const time = new Date().toISOString();
  return Array.from({ length: count }, (_, number): SkillRow => {
    const mode = number < countOn(count) ? 'on' : 'auto';
    return {
      id: `${apiKeyId}-${number}`,
      apiKeyId,
      name: number === 0 ? 'bench_echo' : `${words(random, 2).join('-')}-${number}`,
      version: '1.0.0',
      description: `A tool for the ${words(random, 10).join(' ')}, as it is needed.`,
      schema,
      handler: 'echo-handler',
      kind: 'handler',
      ...{ enabled: true, mode, modeWhenEnabled: mode },
      sourceProvider: 'local',
      tags: words(random, 3),
      ...{ createdAt: time, updatedAt: time },
    };
  });
}
