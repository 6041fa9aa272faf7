import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface FencedBlock {
  /** `sh`, `json` */
  language: string;
  /** What stands behind it: for JSON, what it is. */
  subject: string;
  text: string;
}

/** A command that a text shows, with what it says that it answers. */
export interface Example {
  command: string;
  /** The comment behind it: a status, and a body or media type. */
  claim: string | undefined;
}

export interface CurlRequest {
  method: string;
  /** Path and query. */
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

export const blocksOf = (markdown: string): FencedBlock[] =>
  [...markdown.matchAll(/^```(\w*) ?([^\n]*)\n(.*?)^```$/gms)].map(([, language = '', subject = '', text = '']) => ({
    language,
    subject,
    text,
  }));

/** The commands of the blocks for a shell, in order. Throws an Error for a comment that stands behind no command. */
export function examplesOf(markdown: string): Example[] {
  const examples: Example[] = [];
  for (const { text } of blocksOf(markdown).filter(({ language }) => language === 'sh')) {
    for (const line of text.replaceAll('\\\n', ' ').trim().split('\n')) {
      if (!line.startsWith('# ')) examples.push({ command: line.trim(), claim: undefined });
      else {
        const last = examples.at(-1);
        if (last === undefined || last.claim !== undefined) throw new Error(`Nothing answers ${line}`);
        last.claim = line.slice(2);
      }
    }
  }
  return examples;
}

/** The variables that a command names. */
export const variablesIn = (command: string): string[] => [
  ...new Set([...command.matchAll(/\$([A-Z_]+)/g)].map(([, name]) => name as string)),
];

/** The words that a shell makes of a command. Rejects unless it calls the program and nothing else. */
export async function shellWords(program: string, command: string, variables: Record<string, string>): Promise<string[]> {
  if (!command.startsWith(`${program} `)) throw new Error(`${command} does not call ${program}`);
  const script = `set -eu\nprogram() { printf '%s\\0' "$@"; }\nprogram ${command.slice(program.length)}`;
  const { stdout } = await run('/bin/sh', ['-c', script], { env: { PATH: '/nowhere', ...variables } });
  return stdout.split('\0').slice(0, -1);
}

/** The request that a line with curl sends to `url`. Rejects for options that no text should need. */
export async function readCurl(command: string, variables: Record<string, string> & { URL: string }): Promise<CurlRequest> {
  const words = await shellWords('curl', command, variables);
  const request: CurlRequest = { method: '', path: '', headers: {}, body: undefined };
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '-X') request.method = words.shift() ?? '';
    else if (word === '-d') request.body = words.shift() ?? '';
    else if (word === '-H') {
      const [, name = '', value = ''] = /^([\w-]+): (.+)$/.exec(words.shift() ?? '') ?? [];
      request.headers[name.toLowerCase()] = value;
    } else if (word.startsWith(`${variables.URL}/`) && request.path === '') request.path = word.slice(variables.URL.length);
    else if (!/^-sN?$/.test(word)) throw new Error(`${command}: what is ${word}?`);
  }
  request.method ||= request.body === undefined ? 'GET' : 'POST';
  return request;
}

/** Where a value is not as shown; undefined when it is. `…` stands for anything, an object may have further members, an array further items. */
export function differenceFrom(shown: unknown, value: unknown, path = ''): string | undefined {
  const different = `${path || 'the answer'}: ${JSON.stringify(value)?.slice(0, 300)} is not ${JSON.stringify(shown)}`;
  if (shown === '…') return value === undefined ? different : undefined;
  if (Array.isArray(shown)) {
    if (!Array.isArray(value) || (shown.length === 0 && value.length > 0)) return different;
    const isThere = (item: unknown): boolean => value.some((each) => differenceFrom(item, each) === undefined);
    return shown.every(isThere) ? undefined : different;
  }
  if (typeof shown !== 'object' || shown === null) return shown === value ? undefined : different;
  if (typeof value !== 'object' || value === null) return different;
  return Object.entries(shown)
    .map(([name, member]) => differenceFrom(member, (value as Record<string, unknown>)[name], `${path}.${name}`))
    .find((difference) => difference !== undefined);
}

/** What an answer has other than its claim says; undefined when the claim is true. */
export async function differenceFromClaim(claim: string, response: Response): Promise<string | undefined> {
  const [, status, shown = ''] = /^(\d{3})(?: (.+))?$/.exec(claim) ?? [];
  const text = await response.text();
  if (String(response.status) !== status) return `${response.status} ${text.slice(0, 500)} is not ${claim}`;
  if (shown === '') return undefined;
  if (shown.startsWith('{') || shown.startsWith('[')) return differenceFrom(JSON.parse(shown), JSON.parse(text));
  const type = response.headers.get('content-type') ?? '';
  return type.split(';')[0] === shown && text !== '' ? undefined : `${type} is not ${shown}`;
}

/** What a command has done other than its claim says, such as `exits 0 {"success":true}`; undefined when the claim is true. */
export function differenceFromExit(claim: string, { code, output }: { code: number; output: string }): string | undefined {
  const [, exit, shown = ''] = /^exits (\d|…)(?: (.+))?$/.exec(claim) ?? [];
  if (exit !== '…' && String(code) !== exit) return `${code} ${output.slice(0, 500)} is not ${claim}`;
  if (shown === '') return undefined;
  if (shown.startsWith('{')) return differenceFrom(JSON.parse(shown), JSON.parse(output));
  const pattern = shown.split('…').map((part) => part.replaceAll(/[.*+?^$()|[\]{}\\]/g, '\\$&'));
  return new RegExp(`^${pattern.join('.+')}$`, 's').test(output.trim()) ? undefined : `${output} is not ${shown}`;
}
