import type { BackgroundReason } from './background-reason.ts';
import { createScoringMemory, type ScoringMemory } from './scoring-memory.ts';
import type { HintedProvider } from './scoring-points.ts';
import { createTally } from './scoring-postings.ts';
import { createSearch } from './scoring-search.ts';
import { collectSignals } from './scoring-signals.ts';
import { createStandings } from './scoring-standing.ts';
import type { Skill } from './skill.ts';

/** What a request tells about the skills it needs. */
export interface ScoringContext {
  /** Model, formats, background reason, system text and messages; any case. */
  texts: readonly string[];
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

/** Keeps the `limit` smallest of the ranks that it is offered, in order; meant for a few. */
function createShortlist(limit: number) {
  const kept: number[] = [];
  let worst = limit === 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return {
    kept,
    offer(rank: number): void {
      if (rank >= worst) return;
      let place = Math.min(kept.length, limit - 1);
      for (; place > 0 && kept[place - 1]! > rank; place--) kept[place] = kept[place - 1]!;
      kept[place] = rank;
      if (kept.length === limit) worst = kept[limit - 1]!;
    },
  };
}

/** Compiles the skills that may be offered. Costs some milliseconds for a thousand skills; done once per load of the registry. */
export function buildScoringIndex(unordered: readonly Skill[], memory: ScoringMemory = createScoringMemory()): ScoringIndex {
  const skills = unordered.toSorted(compareStanding);
  const signals = collectSignals(skills);
  const standingFor = createStandings(signals.words);
  const tally = createTally(skills.length);
  const search = createSearch(signals, tally, memory);

  /** Offers the ranks of all skills that the text speaks of, and of the first `limit` others, where the score is high enough. */
  function rank(
    { texts, provider, backgroundReason }: ScoringContext,
    minScore: number,
    limit: number,
    offer: (rank: number) => void,
  ): void {
    const standing = standingFor(provider, backgroundReason);
    search(texts);
    const { points, touched, touchedCount, isTouched, everyone } = tally;
    for (let place = 0; place < touchedCount; place++) {
      const skill = touched[place]!;
      const score = points[skill]! + everyone + standing.points[skill]!;
      if (score >= minScore) offer(toRank(score, skill));
    }
    let others = 0;
    for (const skill of standing.order) {
      const score = everyone + standing.points[skill]!;
      if (score < minScore || others === limit) break;
      if (isTouched[skill] === 1) continue;
      offer(toRank(score, skill));
      others++;
    }
  }

  const toScored = (found: number): ScoredSkill => ({ skill: skills[skillOfRank(found)]!, score: scoreOfRank(found) });

  return {
    score(context) {
      const ranks: number[] = [];
      rank(context, 1, skills.length, (found) => ranks.push(found));
      return ranks.sort((first, second) => first - second).map(toScored);
    },
    best(context, minScore, limit) {
      const shortlist = createShortlist(limit);
      rank(context, minScore, limit, shortlist.offer);
      return shortlist.kept.map(toScored);
    },
  };
}
