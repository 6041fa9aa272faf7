/** A skill and its points in one number: the skill's number times 16, plus the points plus 8. */
const BITS = 4;
const POINT_MASK = 15;
const POINT_BIAS = 8;

export const toEntry = (skill: number, points: number): number => (skill << BITS) + points + POINT_BIAS;
const skillOf = (entry: number): number => entry >> BITS;
const pointsOf = (entry: number): number => (entry & POINT_MASK) - POINT_BIAS;

/** What signals give, by their numbers: `everyone` to all skills, and to those in `entries` from `starts` on that many points more or less. */
export interface Postings {
  starts: Int32Array;
  entries: Int32Array;
  everyone: Int8Array;
}

/** The points that more than half of all skills have, if there is such a number other than 0. */
function majorityOf(entries: readonly number[], skillCount: number): number {
  if (entries.length * 2 <= skillCount) return 0;
  const frequency = new Map<number, number>();
  for (const entry of entries) frequency.set(pointsOf(entry), (frequency.get(pointsOf(entry)) ?? 0) + 1);
  const [points] = [...frequency].find(([, count]) => count * 2 > skillCount) ?? [0];
  return points;
}

/** The entries of all skills whose points differ from those that everyone gets. */
function correct(entries: readonly number[], everyone: number, skillCount: number): number[] {
  const points = new Map(entries.map((entry) => [skillOf(entry), pointsOf(entry)]));
  return Array.from({ length: skillCount }, (_, skill) => toEntry(skill, (points.get(skill) ?? 0) - everyone)).filter(
    (entry) => pointsOf(entry) !== 0,
  );
}

/**
 * Packs the entries of signals. What more than half of all skills get is given to everyone, and the others are corrected, so that a word
 * which all descriptions share costs nothing.
 */
export function packPostings(signals: readonly (readonly number[])[], skillCount: number): Postings {
  const everyone = Int8Array.from(signals, (entries) => majorityOf(entries, skillCount));
  const lists = signals.map((entries, signal) => (everyone[signal] === 0 ? entries : correct(entries, everyone[signal]!, skillCount)));
  const starts = new Int32Array(signals.length + 1);
  lists.forEach((list, signal) => {
    starts[signal + 1] = starts[signal]! + list.length;
  });
  const packed = new Int32Array(starts[signals.length]!);
  lists.forEach((list, signal) => {
    packed.set(list, starts[signal]!);
  });
  return { starts, entries: packed, everyone };
}

/** Points per skill. Those that no entry has named are not touched and have what everyone has. One query at a time. */
export interface Tally {
  points: Int32Array;
  isTouched: Uint8Array;
  touched: Int32Array;
  touchedCount: number;
  everyone: number;
}

export const createTally = (skillCount: number): Tally => ({
  points: new Int32Array(skillCount),
  isTouched: new Uint8Array(skillCount),
  touched: new Int32Array(skillCount),
  touchedCount: 0,
  everyone: 0,
});

export function clearTally(tally: Tally): void {
  const { points, isTouched, touched, touchedCount } = tally;
  for (let place = 0; place < touchedCount; place++) {
    const skill = touched[place]!;
    points[skill] = 0;
    isTouched[skill] = 0;
  }
  tally.touchedCount = 0;
  tally.everyone = 0;
}

/** Adds the points of a signal. */
export function addSignal(tally: Tally, { starts, entries, everyone }: Postings, signal: number): void {
  const { points, isTouched, touched } = tally;
  const end = starts[signal + 1]!;
  let { touchedCount } = tally;
  for (let place = starts[signal]!; place < end; place++) {
    const entry = entries[place]!;
    const skill = skillOf(entry);
    points[skill] = points[skill]! + pointsOf(entry);
    if (isTouched[skill] === 0) {
      isTouched[skill] = 1;
      touched[touchedCount++] = skill;
    }
  }
  tally.touchedCount = touchedCount;
  tally.everyone += everyone[signal]!;
}
