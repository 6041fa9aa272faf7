// How long AUTO scoring takes, by the number of skills and the length of the request: npx node bench/scoring.ts
import { selectAutoSkills } from '../src/skills/scoring.ts';
import { buildScoringIndex, type ScoringContext } from '../src/skills/scoring-index.ts';
import { createScoringMemory } from '../src/skills/scoring-memory.ts';
import type { Skill } from '../src/skills/skill.ts';

const ROUNDS = 60;
const MIN_ROUND_MS = 4;
const LIMITS = { minScore: 3, maxSkills: 5 };
const CONTEXT_COUNT = 8;

/** Numbers from 0 up to 1, the same at every run (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = createRandom(7);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
const times = <T>(count: number, make: (number: number) => T): T[] => Array.from({ length: count }, (_, number) => make(number));

const SYLLABLES = 'ba con der est fi gra hol in jec ka lor men nor ost pre qui re sal ter un ver wil xen yar zet tion ing al ment'.split(
  ' ',
);
/** Words of a language, the frequent ones first: a word's frequency falls with its place, as Zipf found. */
const vocabulary = [...new Set(times(9_000, () => times(1 + Math.floor(random() * 3), () => pick(SYLLABLES)).join('')))];
const frequentWord = (): string => vocabulary[Math.floor(vocabulary.length ** random()) - 1] ?? vocabulary[0]!;
const SMALL_WORDS = 'the and for with this that from you are not can have what your which when there into about'.split(' ');

const prose = (length: number): string => {
  const words: string[] = [];
  for (let size = 0; size < length; size += words.at(-1)!.length + 1) words.push(random() < 0.4 ? pick(SMALL_WORDS) : frequentWord());
  return words.join(' ').slice(0, length);
};

type Kind = 'distinct' | 'shared';

/** `distinct`: each skill has a subject of its own. `shared`: names, tags and descriptions are of the words that requests are made of. */
function makeSkill(kind: Kind, number: number): Skill {
  const subject = `${pick(SYLLABLES)}${pick(SYLLABLES)}${number.toString(36)}`;
  const word = kind === 'distinct' ? () => `${pick(SYLLABLES)}${number.toString(36)}${pick(SYLLABLES)}` : () => pick(vocabulary);
  const describing = kind === 'distinct' ? word : frequentWord;
  return {
    ...{ id: String(number), apiKeyId: 'system', version: '1.0.0', schema: { input: {}, output: {} }, handler: '' },
    ...{ kind: 'instructions', enabled: true, mode: 'auto', policy: 'auto', sourceProvider: 'local', sourceUrl: null, contentSha256: null },
    ...{ timeoutMs: null, maxRetries: null, idempotent: false, createdAt: '', updatedAt: '', installCount: Math.floor(random() * 1_000) },
    name: kind === 'distinct' ? `${subject}-${word()}` : `${word()}-${word()}-${number.toString(36)}`,
    description: `Tools for ${times(12, describing).join(' ')}`,
    tags: times(3, word),
  } as Skill;
}

interface Case {
  label: string;
  run: () => number;
  samplesMs: number[];
}

const createCase = (label: string, skills: readonly Skill[], contexts: readonly ScoringContext[], remembers = false): Case => {
  const index = buildScoringIndex(skills, createScoringMemory(remembers ? undefined : 0));
  let turn = 0;
  const run = () => selectAutoSkills(index, contexts[turn++ % contexts.length]!, LIMITS).length;
  return { label, run, samplesMs: [] };
};

const contextsOf = (length: number): ScoringContext[] =>
  times(CONTEXT_COUNT, () => ({ texts: [prose(length)], provider: 'openai', backgroundReason: undefined }));

function measure({ run, samplesMs }: Case): void {
  let count = 0;
  const start = performance.now();
  let end = start;
  for (; end - start < MIN_ROUND_MS; end = performance.now()) {
    run();
    count++;
  }
  samplesMs.push((end - start) / count);
}

const median = (samples: readonly number[]): number => samples.toSorted((first, second) => first - second)[Math.floor(samples.length / 2)]!;

const small = contextsOf(4_096);
const large = contextsOf(1_048_576);
const cases = (['distinct', 'shared'] as const).flatMap((kind) => {
  const skills = times(10_000, (number) => makeSkill(kind, number));
  return [
    ...[100, 1_000, 10_000].map((count) => createCase(`${kind}, ${count} skills, 4 KiB`, skills.slice(0, count), small)),
    createCase(`${kind}, 10000 skills, 4 KiB, seen before`, skills, small, true),
    createCase(`${kind}, 20 skills, 1 MiB`, skills.slice(0, 20), large),
  ];
});
for (let round = 0; round < ROUNDS; round++) for (const each of cases) measure(each);

const buildStart = performance.now();
buildScoringIndex(times(1_000, (number) => makeSkill('shared', number)));
const buildMs = performance.now() - buildStart;

const rows = cases.map(({ label, samplesMs }) => ({ label, medianMs: Number(median(samplesMs).toFixed(4)) }));
console.table(rows);
console.log(
  JSON.stringify({ benchmark: 'scoring', node: process.version, rounds: ROUNDS, buildMsFor1000: Number(buildMs.toFixed(1)), rows }),
);
