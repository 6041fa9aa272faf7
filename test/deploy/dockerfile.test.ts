import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copiedPaths, DOCKERFILE } from '../support/host-image.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const ENTRIES = ['sandbox-host/main.ts', 'sandbox-host/reaper.ts', 'sandbox-host/check-ready.ts'];
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** The files of the project and the packages that some modules come to need, types aside. */
function findNeeded(entries: readonly string[]): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (path: string): void => {
    if (files.has(path)) return;
    files.add(path);
    for (const [, specifier = ''] of read(path).matchAll(/^(?:import|export)(?! type)[^;]*?from '([^']+)'/gm)) {
      if (specifier.startsWith('.')) visit(normalize(join(dirname(path), specifier)));
      else if (!specifier.startsWith('node:')) packages.add(packageOf(specifier));
    }
  };
  for (const entry of entries) visit(entry);
  return { files, packages };
}

describe('the image of the sandbox-host', () => {
  const { files, packages } = findNeeded(ENTRIES);
  const copied = copiedPaths();
  const isCopied = (path: string) => copied.some((folder) => path === folder || path.startsWith(`${folder}/`));

  it('has every module and package that it needs', () => {
    expect(files.size).toBeGreaterThan(30);
    expect([...files].filter((path) => !isCopied(path))).toEqual([]);
    expect([...packages].filter((name) => !isCopied(`node_modules/${name}`))).toEqual([]);
    const needs = [...packages].flatMap((name) => Object.keys(JSON.parse(read(`node_modules/${name}/package.json`)).dependencies ?? {}));
    expect(needs.filter((name) => !isCopied(`node_modules/${name}`))).toEqual([]);
  });

  it('has no package that it does not need', () => {
    const taken = copied.filter((path) => path.startsWith('node_modules/')).map((path) => path.slice('node_modules/'.length));
    expect(taken.toSorted()).toEqual([...packages].toSorted());
  });

  it('is built of what the build is sent', () => {
    const sent = read(`${DOCKERFILE}.dockerignore`)
      .split('\n')
      .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
    expect(sent.toSorted()).toEqual(copied.toSorted());
    for (const path of copied) expect(existsSync(join(ROOT, path)), path).toBe(true);
  });
});
