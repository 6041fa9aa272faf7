import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createProgram } from '../../cli/create-program.ts';
import { EXIT_CODE } from '../../cli/exit-code.ts';

const readme = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8');
const chapter = readme.slice(readme.indexOf('## Command line'), readme.indexOf('## Agent Skills'));
const rows = chapter.split('\n').filter((line) => line.startsWith('| '));
const program = createProgram(
  () => {},
  80,
  async () => {},
);

it('names every command in the README', () => {
  const missing = program.commands
    .filter((command) => command.name() !== 'complete')
    .flatMap((command) => {
      const own = rows.filter((row) => row.startsWith(`| \`${command.name()}`)).join('\n');
      const words = command.commands.map((sub) => sub.name());
      return [
        ...(own === '' ? [command.name()] : []),
        ...words.filter((word) => !own.includes(word)).map((word) => `${command.name()} ${word}`),
      ];
    });
  expect(missing).toEqual([]);
});

it('lists the exit codes in the README', () => {
  expect(rows.flatMap((row) => /^\| (\d+) \|/.exec(row)?.[1] ?? []).map(Number)).toEqual(Object.values(EXIT_CODE));
});

it('shows no line in the README that begins with another command', () => {
  for (const [, line = ''] of chapter.matchAll(/npx omniroute-edge ((?:[a-z])[^\n)`]*)/g)) {
    const words = line.split(/\s+#/)[0]!.trim().split(/\s+/);
    expect(program.commands.map((command) => command.name())).toContain(words[0]);
  }
});
