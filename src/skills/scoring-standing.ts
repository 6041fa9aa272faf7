import { BACKGROUND_REASONS, type BackgroundReason } from './background-reason.ts';
import { HINTED_PROVIDERS, type HintedProvider, POINTS, PROVIDER_HINT_TAGS } from './scoring-points.ts';
import { tokensOf } from './tokenize.ts';

/** What skills are worth before the text of a request is read: by the request's provider and its background reason. */
export interface Standing {
  points: Int16Array;
  /** The skills by their points, highest first, and by their number. */
  order: Int32Array;
}

export interface SkillWords {
  nameTokens: ReadonlySet<string>;
  /** Folded, not empty, distinct. */
  tags: ReadonlySet<string>;
}

const ALL_HINT_TAGS = HINTED_PROVIDERS.flatMap((provider) => PROVIDER_HINT_TAGS[provider]);
const BACKGROUND_TOKENS = new Map(BACKGROUND_REASONS.map((reason) => [reason, [...tokensOf(reason)]]));

function hintPoints(tags: ReadonlySet<string>, provider: HintedProvider | undefined): number {
  if (!ALL_HINT_TAGS.some((tag) => tags.has(tag))) return 0;
  return provider !== undefined && PROVIDER_HINT_TAGS[provider].some((tag) => tags.has(tag)) ? POINTS.fittingHint : POINTS.foreignHint;
}

function backgroundPoints({ nameTokens, tags }: SkillWords, reason: BackgroundReason | undefined): number {
  if (reason === undefined) return 0;
  let points = 0;
  for (const token of BACKGROUND_TOKENS.get(reason)!) {
    if (nameTokens.has(token)) points += POINTS.backgroundNameToken;
    if ([...tags].some((tag) => tag.includes(token) || token.includes(tag))) points += POINTS.backgroundTag;
  }
  return points;
}

function createStanding(points: Int16Array): Standing {
  const order = Int32Array.from(points.keys());
  if (points.some((value) => value !== 0)) order.sort((first, second) => points[second]! - points[first]! || first - second);
  return { points, order };
}

/** Standings for every provider and reason, each made when it is first asked for. */
export function createStandings(skills: readonly SkillWords[]) {
  const made = new Map<string, Standing>();
  return (provider: HintedProvider | undefined, reason: BackgroundReason | undefined): Standing => {
    const key = `${provider} ${reason}`;
    const known = made.get(key);
    if (known) return known;
    const standing = createStanding(Int16Array.from(skills, (skill) => hintPoints(skill.tags, provider) + backgroundPoints(skill, reason)));
    made.set(key, standing);
    return standing;
  };
}
