import { AppError } from '../errors.ts';
import { RESULT_MODES } from '../settings.ts';

const SKILLS_VALUES = ['off', ...RESULT_MODES] as const;

/** At most this many names or ids in one header. */
const MAX_LISTED = 10;

/** `x-omniroute-skills`: whether and how skills work for this request. Throws `invalid_request` for any other value. */
export function readSkillsHeader(headers: Headers): (typeof SKILLS_VALUES)[number] | undefined {
  const value = headers.get('x-omniroute-skills')?.trim().toLowerCase();
  if (value === undefined) return undefined;
  const known = SKILLS_VALUES.find((candidate) => candidate === value);
  if (known === undefined) throw new AppError('invalid_request', `x-omniroute-skills: use one of ${SKILLS_VALUES.join(', ')}`);
  return known;
}

/** A comma list such as `x-omniroute-fallback` or `x-omniroute-approve`. Throws `invalid_request` when it is too long. */
export function readListHeader(headers: Headers, name: string): string[] {
  const listed = (headers.get(name) ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (listed.length > MAX_LISTED) throw new AppError('invalid_request', `${name}: use at most ${MAX_LISTED} entries`);
  return listed;
}
