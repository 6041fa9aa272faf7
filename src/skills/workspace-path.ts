import { SkillError } from './define.ts';

const MAX_PATH_BYTES = 512;
const RESTRICTED_SEGMENTS = new Set(['.env', '.git', '.ssh', '.omniroute', '.codex', 'secrets']);

/** Spelling by which a file system or a reader might take a path for another one: width, case, ligatures and invisible characters evened out. */
const foldSpelling = (path: string): string =>
  path
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase();

const segmentsOf = (path: string): string[] => path.split(/[\\/]/);
const withoutEnd = (segment: string): string => segment.replace(/[. ]+$/, '');
/** `..`, also with the spaces and dots that Windows ignores at the end of a name. */
const isParent = (segment: string): boolean => /^\.\.[. ]*$/.test(segment.trimStart());

function checkSpelling(path: string): void {
  if (/^([\\/]|[a-z]:|[a-z][a-z0-9+.-]+:\/\/)/i.test(path))
    throw new SkillError('Skill file paths must be relative to the skill workspace');
  const segments = segmentsOf(path);
  if (segments.some(isParent)) throw new SkillError('Skill file path escapes the skill workspace');
  if (segments.some((segment) => RESTRICTED_SEGMENTS.has(withoutEnd(segment).trimStart())))
    throw new SkillError('Skill file path contains a restricted segment');
}

/**
 * The path under which a workspace keeps a file: relative, `/` between segments, Unicode NFC, no `.` and no empty segments.
 * Backslashes count as separators. Throws a SkillError for what is absolute, leaves the workspace, names a restricted segment
 * (in any case or look-alike spelling), is longer than 512 bytes or cannot be a file's name.
 */
export function normalizeWorkspacePath(path: string): string {
  checkSpelling(path);
  checkSpelling(foldSpelling(path));
  const segments = segmentsOf(path.normalize('NFC'));
  const last = segments.at(-1);
  const kept = segments.filter((segment) => segment !== '' && segment !== '.');
  const isFile = last !== '' && last !== '.' && path.isWellFormed() && !/\p{Cc}/u.test(path);
  if (!isFile || kept.some((segment) => foldSpelling(segment).trim() === '' || withoutEnd(segment) !== segment))
    throw new SkillError('Skill file path must point to a file');
  const normalized = kept.join('/');
  if (new TextEncoder().encode(normalized).length > MAX_PATH_BYTES) throw new SkillError(`Skill file path exceeds ${MAX_PATH_BYTES} bytes`);
  return normalized;
}
