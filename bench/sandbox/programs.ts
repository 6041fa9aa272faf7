import type { JsonObject } from '../../src/json.ts';

/** One program in the forms in which it can be run. All of them print `EXPECTED`. */
export interface Program {
  name: string;
  image: string;
  command: readonly string[];
  stdin: string;
  /** The call that a model would make. */
  skill: { skillName: string; input: JsonObject };
}

export const EXPECTED = '42\n';

const JAVASCRIPT = 'console.log([1, 2, 3].map((n) => n * n).reduce((a, b) => a + b) * 3);';
const PYTHON = 'print(sum(n * n for n in range(1, 4)) * 3)';

export const PROGRAMS: readonly Program[] = [
  {
    name: 'eval_code javascript',
    image: 'node:22-alpine',
    command: ['node', '-'],
    stdin: JAVASCRIPT,
    skill: { skillName: 'eval_code', input: { language: 'javascript', code: JAVASCRIPT } },
  },
  {
    name: 'eval_code python',
    image: 'python:3.12-alpine',
    command: ['python3', '-'],
    stdin: PYTHON,
    skill: { skillName: 'eval_code', input: { language: 'python', code: PYTHON } },
  },
  {
    name: 'execute_command',
    image: 'alpine:3.20',
    command: ['sh', '-c', 'echo $(((1 + 4 + 9) * 3))'],
    stdin: '',
    skill: { skillName: 'execute_command', input: { command: 'sh', args: ['-c', 'echo $(((1 + 4 + 9) * 3))'] } },
  },
];
