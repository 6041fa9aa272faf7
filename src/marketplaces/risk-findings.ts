import { INVISIBLE_CHARACTER } from '../invisible-characters.ts';
import type { RiskFinding } from '../skills/skill.ts';

const MAX_FINDINGS = 20;
const MAX_TEXT_CHARS = 160;

const INVISIBLE = new RegExp(`${INVISIBLE_CHARACTER}+`, 'gu');

const SHELL = String.raw`(?:sudo\s{1,9}(?:-\S{1,20}\s{1,9}){0,3})?(?:/\w{1,9}){0,3}/?\b(?:(?:ba|z|da|k|fi|c)?sh|python3?|node|perl|ruby|php|iex|pwsh|powershell|invoke-expression)\b`;
const DOWNLOAD = String.raw`\b(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod)\b`;
/** The rest of a command, over the ends of lines that it escapes. Bounded like every repetition here, since the text may be hostile. */
const COMMAND = String.raw`(?:[^\n\\]|\\\n|\\){0,200}?`;
const SECRET_NAME = String.raw`(?:api[ _-]?keys?|access[ _-]?tokens?|passwords?|credentials?|secrets?|private[ _-]?keys?)\b`;

const RULES: readonly [risk: RiskFinding['risk'], pattern: RegExp][] = [
  ['remote_shell', new RegExp(`${DOWNLOAD}${COMMAND}\\|\\s{0,9}${SHELL}`, 'gi')],
  [
    'remote_shell',
    new RegExp(`\\b(?:(?:ba|z|da|k)?sh|source|eval)\\s{1,9}(?:-c\\s{1,9})?["']?(?:<\\(|\\$\\(|\`)\\s{0,9}${DOWNLOAD}`, 'gi'),
  ],
  ['remote_shell', new RegExp(`\\bbase64\\s{1,9}(?:-d|--decode)\\b${COMMAND}\\|\\s{0,9}${SHELL}`, 'gi')],
  ['remote_shell', /\b(?:exec|eval)\s{0,9}\(\s{0,9}(?:requests\.get|urllib|urlopen|await\s{1,9}fetch|fetch)\b/gi],
  ['secret', /\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{22}|xox[abeoprs]-[\w-]{10}|AIza[\w-]{35}|sk-[\w-]{20})/g],
  ['secret', /-----BEGIN (?:[A-Z]{1,12} ){0,3}PRIVATE KEY-----/g],
  [
    'secret',
    /(?:~|\$\{?HOME\}?|\/root|\/home\/[\w.-]{1,64})\/\.(?:ssh|aws|gnupg|kube|docker|netrc|npmrc|pypirc|git-credentials|config\/gcloud)\b/gi,
  ],
  ['secret', /\bid_(?:rsa|dsa|ecdsa|ed25519)\b|\/etc\/shadow\b|\bprintenv\b/g],
  ['secret', /\b(?:cat|less|head|tail|cp|scp|source|read|open|upload|send)\b[^\n]{0,60}?(?<![\w.])\.env\b/gi],
  [
    'secret',
    new RegExp(`\\b(?:send|post|upload|share|reveal|print|paste|output|exfiltrate|leak|forward)\\b[^\\n.]{0,80}?\\b${SECRET_NAME}`, 'gi'),
  ],
  [
    'prompt_override',
    /\b(?:ignore|disregard|forget|override|bypass)\s{1,9}(?:(?:all|any|every|the|your|my|these|those|of|other)\s{1,9}){0,4}(?:previous|prior|earlier|above|preceding|existing|system|safety|original)\s{1,9}(?:\w{1,20}\s{1,9}){0,2}?(?:instructions?|prompts?|rules?|guidelines?|messages?|directives?|context|polic(?:y|ies))\b/gi,
  ],
  [
    'prompt_override',
    /\b(?:do not|don['’]t|never|without)\s{1,9}(?:tell|telling|inform|informing|notify|notifying|alert|alerting)\s{1,9}(?:the\s{1,9})?(?:user|human|operator)\b/gi,
  ],
  [
    'destructive_command',
    /\brm\s{1,9}(?=(?:-\S{1,20}\s{1,9}){0,3}--?[a-z]{0,9}r)(?=(?:-\S{1,20}\s{1,9}){0,3}--?[a-z]{0,9}f)(?:-\S{1,20}\s{1,9}){1,4}["']?(?:\/|~|\$\{?HOME\}?)\/?\*?(?=[\s"']|$)/gim,
  ],
  ['destructive_command', /\bmkfs(?:\.\w{1,9})?\s|\bdd\b[^\n]{0,80}?\bof=\/dev\/|:\(\)\s{0,9}\{\s{0,9}:\s{0,9}\|/gi],
];

/** Lines counted from 1, by a walk over offsets that only grow. */
function lineAt(text: string): (offset: number) => number {
  let line = 1;
  let walked = 0;
  return (offset) => {
    for (let next = text.indexOf('\n', walked); next >= 0 && next < offset; next = text.indexOf('\n', walked)) {
      line += 1;
      walked = next + 1;
    }
    return line;
  };
}

/** One finding for each line that the pattern is met in. */
function findAll(text: string, risk: RiskFinding['risk'], pattern: RegExp): RiskFinding[] {
  const lineOf = lineAt(text);
  const byLine = new Map<number, RiskFinding>();
  for (const match of text.matchAll(pattern)) {
    const line = lineOf(match.index);
    if (byLine.has(line)) continue;
    const passage = match[0].replace(INVISIBLE, '').replace(/\s+/g, ' ').trim();
    byLine.set(line, { risk, line, text: [...passage].slice(0, MAX_TEXT_CHARS).join('') });
    if (byLine.size === MAX_FINDINGS) break;
  }
  return [...byLine.values()];
}

/**
 * What an operator should look at before models follow a SKILL.md, at most 20 findings by line: programs that are fetched and run, secrets that
 * it holds or asks for, attempts to overrule other instructions, text that people cannot see, and commands that destroy. It finds the known
 * patterns and no more: none found does not mean that there is no risk.
 */
export function findRisks(text: string): RiskFinding[] {
  const readable = text.replace(INVISIBLE, '').replace(/\r\n/g, '\n').normalize('NFKC');
  const hidden = findAll(text, 'hidden_text', INVISIBLE).map((finding) => ({ ...finding, text: 'Characters that cannot be seen' }));
  const found = [...hidden, ...RULES.flatMap(([risk, pattern]) => findAll(readable, risk, pattern))];
  const unique = new Map(found.map((finding) => [`${finding.risk} ${finding.line}`, finding] as const));
  return [...unique.values()].sort((left, right) => left.line - right.line).slice(0, MAX_FINDINGS);
}
