const MAX_MESSAGE_CHARS = 2_000;

/** Secrets by their looks: this gateway's keys, providers' keys, bearer and basic credentials, JWTs, and what follows a telling name. */
const SECRETS: readonly [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, '[secret]'],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, '$1 [secret]'],
  [/\b(?:(?:omr|sk|pk|rk|gh[opsu]|github_pat|xox[abprs]|tvly|hf)[-_]|AIza|AKIA)(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{15,}/g, '[secret]'],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?/g, '[secret]'],
  [
    /((?:api[-_]?key|access[-_]?key|token|secret|password|passwd|authorization)["']?\s*[=:]\s*["']?)(?!\[secret\]|Bearer |Basic )[^\s"'&,;)]{4,}/gi,
    '$1[secret]',
  ],
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@:]*:[^\s/@]+@/gi, '$1[secret]@'],
];

/** Two segments or more, so that a lone "/" or "and/or" stays; not the path of a URL, and not a JSON pointer ("#/a/b"). */
const POSIX_PATH = /(?<![\w:/.#~\]-])(?:file:\/\/)?\/(?:[\w.@+~-]+\/)+[\w.@+~-]*(?::\d+){0,2}/g;
const FILE_URL = /\bfile:\/\/[^\s"')]+/g;
const WINDOWS_PATH = /(?<![A-Za-z])[A-Za-z]:\\[^\s"'<>|,;)]*/g;
const STACK_LINE = /^\s+at\s.*(?:\r?\n|$)|^\s*File ".*", line \d+.*(?:\r?\n|$)/gm;

const scrubSecrets = (text: string): string =>
  SECRETS.reduce((scrubbed, [pattern, replacement]) => scrubbed.replace(pattern, replacement), text);

/** The cut before comes first, so that a flood of text costs nothing; its margin keeps a secret at the border whole. */
function scrubBounded(text: string, scrub: (bounded: string) => string): string {
  const scrubbed = scrub(text.slice(0, 2 * MAX_MESSAGE_CHARS))
    .trim()
    .toWellFormed();
  return scrubbed.length <= MAX_MESSAGE_CHARS ? scrubbed : `${scrubbed.slice(0, MAX_MESSAGE_CHARS - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** An error's text as it may be stored and sent: no stack trace, no secret, no absolute path, at most 2,000 characters. */
export const scrubMessage = (text: string): string =>
  scrubBounded(text, (bounded) =>
    scrubSecrets(bounded.replace(STACK_LINE, '')).replace(FILE_URL, '[path]').replace(WINDOWS_PATH, '[path]').replace(POSIX_PATH, '[path]'),
  );

/** The message of a fault in an input: the paths that it names are those of the input, so they stay. */
export const scrubFault = (text: string): string => scrubBounded(text, scrubSecrets);
