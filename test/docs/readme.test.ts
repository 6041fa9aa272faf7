import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOST_ERROR_STATUS } from '../../src/contract/runs.ts';
import { ERROR_STATUS } from '../../src/errors.ts';
import { DEFAULT_SETTINGS } from '../../src/settings.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const readme = read('README.md');

/** Names of variables that a source file reads from its environment. */
const variablesOf = (file: string): string[] => [
  ...new Set(read(file).match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?=: )|\bPORT(?=: )|\bPROVIDERS(?=: )/g) ?? []),
];

describe('the README', () => {
  it.each(Object.entries(ERROR_STATUS))('lists the error code %s with its status %i', (code, status) => {
    expect(readme).toMatch(new RegExp(`\\| \`${code}\` +\\| ${status} `));
  });

  it.each(Object.entries(HOST_ERROR_STATUS))('lists the sandbox-host’s error code %s', (code, status) => {
    const paragraph = readme.slice(readme.indexOf('A sandbox-host answers'), readme.indexOf('## The sandbox'));
    expect(paragraph).toMatch(new RegExp(`\`${code}\`[^0-9]* ${status}`));
  });

  it.each(['src/env.ts', 'src/contract/limits.ts', 'sandbox-host/config.ts', 'dev/stack/settings.ts'])(
    'lists the variables of %s',
    (file) => {
      const names = variablesOf(file);
      expect(names.length).toBeGreaterThan(2);
      expect(names.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
    },
  );

  it('lists the settings', () => {
    expect(Object.keys(DEFAULT_SETTINGS).filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
  });

  it('has JSON that parses in every request it shows', () => {
    const bodies = [...readme.matchAll(/-d '(\{.*?\})'\n/gs)].map(([, body]) => body as string);
    expect(bodies.length).toBeGreaterThan(2);
    for (const body of bodies) expect(() => JSON.parse(body)).not.toThrow();
  });
});
