import type { BackgroundReason } from './background-reason.ts';
import type { HintedProvider } from './scoring-points.ts';
import { createTally } from './scoring-postings.ts';
import { createSearch } from './scoring-search.ts';
import { collectSignals } from './scoring-signals.ts';
import { createStandings } from './scoring-standing.ts';
import type { Skill } from './skill.ts';

/** What a request tells about the skills it needs. */
export interface ScoringContext {
  /** Model, formats, background reason, system text and messages, joined by something that is no letter; any case. */
  text: string;
  /** Who answers the request; undefined for a provider that no hint tag speaks of. */
  provider: HintedProvider | undefined;
  backgroundReason: BackgroundReason | undefined;
}

export interface ScoredSkill {
  skill: Skill;
  score: number;
}

/** Skills compiled for scoring: a query costs time in the length of its text and in what it matches, not in the number of skills. */
export interface ScoringIndex {
  /** Every skill with a score above 0, best first. */
  score(context: ScoringContext): ScoredSkill[];
  /** The best `limit` skills of at least `minScore`, which is 1 or more. */
  best(context: ScoringContext, minScore: number, limit: number): ScoredSkill[];
}

const compareText = (first: string, second: string): number => (first < second ? -1 : first > second ? 1 : 0);

/** The order among skills of the same score. */
const compareStanding = (first: Skill, second: Skill): number =>
  second.installCount - first.installCount || compareText(first.name, second.name) || compareText(first.version, second.version);

/** A score and a skill as one number, such that the better one is the smaller: of two with the same score, the one with the lower number. */
const SKILL_LIMIT = 2 ** 24;
const toRank = (score: number, skill: number): number => skill - score * SKILL_LIMIT;
const scoreOfRank = (rank: number): number => -Math.floor(rank / SKILL_LIMIT);
const skillOfRank = (rank: number): number => rank + scoreOfRank(rank) * SKILL_LIMIT;

/** The `limit` smallest ranks in order. A few are kept sorted while the others pass by, many are sorted. */
function smallest(ranks: Float64Array, limit: number): number[] {
  if (limit >= ranks.length || limit > 64) return [...ranks.sort().subarray(0, limit)];
  const best: number[] = [];
  for (const rank of ranks) {
    if (best.length === limit && (limit === 0 || rank > best[limit - 1]!)) continue;
    let place = Math.min(best.length, limit - 1);
    for (; place > 0 && best[place - 1]! > rank; place--) best[place] = best[place - 1]!;
    best[place] = rank;
  }
  return best;
}

/** Compiles the skills that may be offered. Costs some milliseconds for a thousand skills; done once per load of the registry. */
export function buildScoringIndex(unordered: readonly Skill[]): ScoringIndex {
  const skills = unordered.toSorted(compareStanding);
  const signals = collectSignals(skills);
  const standingFor = createStandings(signals.words);
  const tally = createTally(skills.length);
  const search = createSearch(signals, tally);
  const ranks = new Float64Array(skills.length);

  /** Ranks of all skills that the text speaks of, and of the first `limit` others, where the score is high enough. */
  function rank({ text, provider, backgroundReason }: ScoringContext, minScore: number, limit: number): Float64Array {
    const { points, order } = standingFor(provider, backgroundReason);
    search(text);
    let count = 0;
    for (let place = 0; place < tally.touchedCount; place++) {
      const skill = tally.touchedSkill(place);
      const score = tally.pointsOf(skill) + points[skill]!;
      if (score >= minScore) ranks[count++] = toRank(score, skill);
    }
    let others = 0;
    for (const skill of order) {
      const score = tally.everyone + points[skill]!;
      if (score < minScore || others === limit) break;
      if (tally.isTouched(skill)) continue;
      ranks[count++] = toRank(score, skill);
      others++;
    }
    return ranks.subarray(0, count);
  }

  const best = (context: ScoringContext, minScore: number, limit: number): ScoredSkill[] =>
    smallest(rank(context, minScore, limit), limit).map((found) => ({ skill: skills[skillOfRank(found)]!, score: scoreOfRank(found) }));

  return { best, score: (context) => best(context, 1, skills.length) };
}
