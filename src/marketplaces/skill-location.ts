import { AppError } from '../errors.ts';

/** Where the SKILL.md of a skill may be. */
export interface SkillLocation {
  /** `owner/repository`. */
  repository: string;
  /** The folder that holds the SKILL.md; the repository's name when that is its root. */
  folder: string;
  /** In the order in which they are to be tried. */
  urls: string[];
}

const SKILL_FILE = 'SKILL.md';
/** Of a repository that does not say which is its default. */
const DEFAULT_BRANCHES = ['main', 'master'];
const GITHUB_HOSTS = ['github.com', 'www.github.com'];
const RAW_HOST = 'raw.githubusercontent.com';

const OWNER = /^[A-Za-z0-9][A-Za-z0-9-]{0,38}$/;
const REPOSITORY = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/;
const SKILL_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/;
const DOT_SEGMENT = /(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\?#]|$)/i;

function refuse(path: string, fault: string): AppError {
  return new AppError('invalid_request', `${path}: ${fault}`, [{ path, message: fault }]);
}

const urlOf = (rawBaseUrl: string, segments: readonly string[]): string => [rawBaseUrl, ...segments.map(encodeURIComponent)].join('/');

/**
 * A skill of skills.sh, which names a repository `owner/name` and a folder in it, in `skills/` or at its root. Throws `invalid_request` for
 * anything else.
 */
export function locateSkill(source: string, skillId: string, rawBaseUrl: string): SkillLocation {
  const [owner = '', name = '', ...rest] = source.split('/');
  if (rest.length > 0 || !OWNER.test(owner) || !REPOSITORY.test(name)) {
    throw refuse('source', 'Use owner/repository, as on GitHub');
  }
  if (!SKILL_ID.test(skillId)) throw refuse('skillId', 'Use letters, digits, ".", "_", ":" and "-", starting with a letter or digit');
  const urls = DEFAULT_BRANCHES.flatMap((branch) =>
    [['skills', skillId], [skillId]].map((folder) => urlOf(rawBaseUrl, [owner, name, branch, ...folder, SKILL_FILE])),
  );
  return { repository: source, folder: skillId, urls };
}

/** The segments of a URL's path, decoded; undefined when one of them would not stay one. */
function segmentsOf(path: string): string[] | undefined {
  try {
    const segments = path.replace(/\/+$/, '').split('/').map(decodeURIComponent);
    return segments.every((segment) => /^[^/\\\p{Cc}]+$/u.test(segment) && !/^\.{1,2}$/.test(segment)) ? segments : undefined;
  } catch {
    return undefined;
  }
}

const isSkillFile = (segment: string | undefined): boolean => segment?.toLowerCase() === SKILL_FILE.toLowerCase();

/** The path within the repository, its branch first; undefined when it is neither a folder nor a SKILL.md. */
function filePaths(host: 'github' | 'raw', path: readonly string[]): string[][] | undefined {
  const [kind, ...rest] = host === 'raw' ? ['blob', ...path] : path;
  if (kind === undefined) return DEFAULT_BRANCHES.map((branch) => [branch, SKILL_FILE]);
  if (rest.length === 0 || !['tree', 'blob', 'raw'].includes(kind)) return undefined;
  if (rest.length > 1 && isSkillFile(rest.at(-1))) return kind === 'tree' ? undefined : [rest];
  if (kind !== 'tree') return undefined;
  const [branch = '', ...folder] = rest;
  const branches = DEFAULT_BRANCHES.includes(branch) ? [branch, ...DEFAULT_BRANCHES.filter((other) => other !== branch)] : [branch];
  return branches.map((each) => [each, ...folder, SKILL_FILE]);
}

function readGithubUrl(text: string, rawBaseUrl: string): { host: 'github' | 'raw'; path: string } | undefined {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || DOT_SEGMENT.test(text)) return undefined;
  const address = `${url.origin}${url.pathname}`;
  if (address.startsWith(`${rawBaseUrl}/`)) return { host: 'raw', path: address.slice(rawBaseUrl.length + 1) };
  if (url.protocol !== 'https:' || url.port !== '') return undefined;
  if (url.hostname === RAW_HOST) return { host: 'raw', path: url.pathname.slice(1) };
  return GITHUB_HOSTS.includes(url.hostname) ? { host: 'github', path: url.pathname.slice(1) } : undefined;
}

/**
 * A skill that a URL on GitHub names: a repository, a folder (`/tree/<branch>/<path>`) or a SKILL.md (`/blob/...`, or its raw address). Only
 * github.com, raw.githubusercontent.com and `rawBaseUrl`, where all of them are then read from, are allowed; anything else throws `invalid_request`.
 */
export function locateByGithubUrl(githubUrl: string, rawBaseUrl: string): SkillLocation {
  const read = readGithubUrl(githubUrl, rawBaseUrl);
  if (read === undefined) throw refuse('githubUrl', 'Use an https URL on github.com, without dot segments');
  const [owner = '', repository = '', ...path] = segmentsOf(read.path) ?? [];
  const name = repository.replace(/\.git$/, '');
  const files = OWNER.test(owner) && REPOSITORY.test(name) ? filePaths(read.host, path) : undefined;
  const [first] = files ?? [];
  if (files === undefined || first === undefined)
    throw refuse('githubUrl', 'Use the URL of a repository, of a folder in it or of its SKILL.md');
  return {
    repository: `${owner}/${name}`,
    folder: first.length > 2 ? (first.at(-2) ?? name) : name,
    urls: files.map((file) => urlOf(rawBaseUrl, [owner, name, ...file])),
  };
}
