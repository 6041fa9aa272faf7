/** The input of eval_code. */
export interface CodeInput {
  code: string;
  language: 'javascript' | 'python';
}

const FENCED = /```([a-z]*)[^\n]*\n([\s\S]*?)```/i;
const PRIMES = /\bfirst\s+(\d{1,4})\s+primes?\b/i;
const SUM = /\b(?:what is|how much is|compute|calculate|evaluate)\b[^\d(+-]*([-+*/%().\d\s]*[\d)])/i;
const LANGUAGES: Record<string, CodeInput['language']> = {
  js: 'javascript',
  javascript: 'javascript',
  '': 'javascript',
  py: 'python',
  python: 'python',
};

const primesProgram = (count: string): string =>
  [
    'const primes = [];',
    `for (let n = 2; primes.length < ${count}; n += 1) {`,
    '  if (primes.every((prime) => n % prime !== 0)) primes.push(n);',
    '}',
    "console.log(primes.join(', '));",
  ].join('\n');

/** A program that answers the question, when it is one that a program answers: code in a fence, primes, or a sum. */
export function codeFor(question: string): CodeInput | undefined {
  const fenced = FENCED.exec(question);
  if (fenced !== null) {
    const language = LANGUAGES[(fenced[1] ?? '').toLowerCase()];
    return language === undefined ? undefined : { code: (fenced[2] ?? '').trimEnd(), language };
  }
  const count = PRIMES.exec(question)?.[1];
  if (count !== undefined) return { code: primesProgram(count), language: 'javascript' };
  const sum = SUM.exec(question)?.[1]?.trim();
  if (sum !== undefined && /\d\s*[-+*/%]/.test(sum)) return { code: `console.log(${sum});`, language: 'javascript' };
  return undefined;
}
