/** A skill and its points in one number: the skill's number times 16, plus the points plus 8. */
const BITS = 4;
const POINT_BIAS = 8;

export const toEntry = (skill: number, points: number): number => (skill << BITS) + points + POINT_BIAS;
const skillOf = (entry: number): number => entry >> BITS;
const pointsOf = (entry: number): number => (entry & 15) - POINT_BIAS;

/** What a signal gives: `everyone` to all skills, and to those in `entries` that many points more (or less). */
export interface Postings {
  everyone: number;
  entries: Int32Array;
}

/** Points per skill, most of them 0, with a total for the skills that have no entry. One query at a time. */
export interface Tally {
  /** Forgets all points. */
  reset(): void;
  add(postings: Postings): void;
  /** Points of the skills that no entry names. */
  readonly everyone: number;
  readonly touchedCount: number;
  touchedSkill(place: number): number;
  isTouched(skill: number): boolean;
  /** Points of a touched skill. */
  pointsOf(skill: number): number;
}

/** The points that more than half of all skills have, if there is such a number other than 0. */
function majorityOf(entries: readonly number[], skillCount: number): number {
  if (entries.length * 2 <= skillCount) return 0;
  const frequency = new Map<number, number>();
  for (const entry of entries) frequency.set(pointsOf(entry), (frequency.get(pointsOf(entry)) ?? 0) + 1);
  const [points] = [...frequency].find(([, count]) => count * 2 > skillCount) ?? [0];
  return points;
}

/**
 * The points that a signal gives, from entries in the order of their skills. What more than half of all skills get is given to everyone, and
 * the others are corrected, so that a word which all descriptions share costs nothing.
 */
export function createPostings(entries: readonly number[], skillCount: number): Postings {
  const everyone = majorityOf(entries, skillCount);
  if (everyone === 0) return { everyone, entries: Int32Array.from(entries) };
  const corrections: number[] = [];
  let place = 0;
  for (let skill = 0; skill < skillCount; skill++) {
    const entry = entries[place];
    const points = entry !== undefined && skillOf(entry) === skill ? pointsOf(entry) : 0;
    if (entry !== undefined && skillOf(entry) === skill) place++;
    if (points !== everyone) corrections.push(toEntry(skill, points - everyone));
  }
  return { everyone, entries: Int32Array.from(corrections) };
}

export function createTally(skillCount: number): Tally {
  const points = new Int32Array(skillCount);
  const touched = new Int32Array(skillCount);
  const touchedFlags = new Uint8Array(skillCount);
  let touchedCount = 0;
  let everyone = 0;
  return {
    reset() {
      for (let place = 0; place < touchedCount; place++) {
        const skill = touched[place]!;
        points[skill] = 0;
        touchedFlags[skill] = 0;
      }
      touchedCount = 0;
      everyone = 0;
    },
    add(postings) {
      everyone += postings.everyone;
      const { entries } = postings;
      for (let place = 0; place < entries.length; place++) {
        const entry = entries[place]!;
        const skill = skillOf(entry);
        points[skill] = points[skill]! + pointsOf(entry);
        if (touchedFlags[skill] === 0) {
          touchedFlags[skill] = 1;
          touched[touchedCount++] = skill;
        }
      }
    },
    get everyone() {
      return everyone;
    },
    get touchedCount() {
      return touchedCount;
    },
    touchedSkill: (place) => touched[place]!,
    isTouched: (skill) => touchedFlags[skill] === 1,
    pointsOf: (skill) => points[skill]! + everyone,
  };
}
