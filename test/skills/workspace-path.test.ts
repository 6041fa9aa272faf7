import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SkillError } from '../../src/skills/define.ts';
import { normalizeWorkspacePath } from '../../src/skills/workspace-path.ts';

const ABSOLUTE = 'Skill file paths must be relative to the skill workspace';
const ESCAPES = 'Skill file path escapes the skill workspace';
const RESTRICTED = 'Skill file path contains a restricted segment';
const NOT_A_FILE = 'Skill file path must point to a file';

const segment = fc.stringMatching(/^[a-z0-9_-]{1,12}(\.[a-z]{1,3})?$/).filter((text) => text !== 'secrets');

describe('normalizeWorkspacePath', () => {
  it.each([
    ['notes.md', 'notes.md'],
    ['a/b/c.txt', 'a/b/c.txt'],
    ['./a//b/./c.txt', 'a/b/c.txt'],
    ['a\\b\\c.txt', 'a/b/c.txt'],
    ['.hidden', '.hidden'],
    ['.environment/.gitignore', '.environment/.gitignore'],
    ['my secrets.txt', 'my secrets.txt'],
    ['a..b/..c', 'a..b/..c'],
    ['e\u0301te\u0301.txt', 'été.txt'],
    ['データ/表.csv', 'データ/表.csv'],
    ['👨‍👩‍👧.txt', '👨‍👩‍👧.txt'],
    ['x'.repeat(512), 'x'.repeat(512)],
  ])('keeps %j as %j', (path, expected) => expect(normalizeWorkspacePath(path)).toBe(expected));

  it.each([
    ['/etc/passwd', ABSOLUTE],
    ['//server/share', ABSOLUTE],
    ['\\\\server\\share', ABSOLUTE],
    ['\\windows', ABSOLUTE],
    ['C:\\windows\\win.ini', ABSOLUTE],
    ['c:file.txt', ABSOLUTE],
    ['file:///etc/passwd', ABSOLUTE],
    ['／etc/passwd', ABSOLUTE],
    ['\u200b/etc/passwd', ABSOLUTE],
    ['..', ESCAPES],
    ['../a.txt', ESCAPES],
    ['a/../b.txt', ESCAPES],
    ['a/../../b.txt', ESCAPES],
    ['..\\a.txt', ESCAPES],
    ['a/..', ESCAPES],
    ['a/.. /b.txt', ESCAPES],
    ['a/.../b.txt', ESCAPES],
    ['‥/a.txt', ESCAPES],
    ['．．/a.txt', ESCAPES],
    ['.\u200b./a.txt', ESCAPES],
    ['../.env', ESCAPES],
    ...['.env', '.git', '.ssh', '.omniroute', '.codex', 'secrets'].flatMap((name): [string, string][] => [
      [name, RESTRICTED],
      [name.toUpperCase(), RESTRICTED],
      [`a/${name}/b.txt`, RESTRICTED],
      [`a\\${name}`, RESTRICTED],
      [`${name}/`, RESTRICTED],
      [`${name}.`, RESTRICTED],
      [`${name} `, RESTRICTED],
      [` ${name}. .`, RESTRICTED],
      [`\u00ad${name}`, RESTRICTED],
    ]),
    ['．env', RESTRICTED],
    ['．ＥＮＶ', RESTRICTED],
    ['.ᵉnv', RESTRICTED],
    ['ſecretſ/key', RESTRICTED],
    ['.e\u200dnv', RESTRICTED],
    ['', NOT_A_FILE],
    ['.', NOT_A_FILE],
    ['./', NOT_A_FILE],
    ['a/', NOT_A_FILE],
    ['a\\', NOT_A_FILE],
    ['a/.', NOT_A_FILE],
    ['a\0.txt', NOT_A_FILE],
    ['a\n.txt', NOT_A_FILE],
    ['a\u0085.txt', NOT_A_FILE],
    ['a.txt.', NOT_A_FILE],
    ['a.txt ', NOT_A_FILE],
    ['a /b.txt', NOT_A_FILE],
    [' ', NOT_A_FILE],
    ['a/\u200b/b.txt', NOT_A_FILE],
    ['a\ud800.txt', NOT_A_FILE],
    ['x'.repeat(513), 'Skill file path exceeds 512 bytes'],
    ['ä'.repeat(257), 'Skill file path exceeds 512 bytes'],
  ])('refuses %j: %s', (path, message) => expect(() => normalizeWorkspacePath(path)).toThrow(new SkillError(message)));

  it('keeps every plain relative path as it is', () => {
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 8 }), (segments) => {
        expect(normalizeWorkspacePath(segments.join('/'))).toBe(segments.join('/'));
      }),
    );
  });

  it('refuses a restricted segment in any case and anywhere', () => {
    const name = fc.constantFrom('.env', '.git', '.ssh', '.omniroute', '.codex', 'secrets');
    const anyCase = fc
      .tuple(name, fc.infiniteStream(fc.boolean()))
      .map(([text, upper]) => Array.from(text, (letter) => (upper.next().value ? letter.toUpperCase() : letter)).join(''));
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 3 }), anyCase, fc.array(segment, { maxLength: 3 }), (before, restricted, after) => {
        expect(() => normalizeWorkspacePath([...before, restricted, ...after].join('/'))).toThrow(RESTRICTED);
      }),
    );
  });

  it('answers for any text with a path that stays as it is, or with a SkillError', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('.', '..', '/', '\\', '.env', 'secrets', ' ', '\0', 'a', '\u200b', '．', '／'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        let path: string;
        try {
          path = normalizeWorkspacePath(pieces.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(SkillError);
          return;
        }
        expect(path.split('/')).not.toContain('..');
        expect(path.split('/')).not.toContain('.env');
        expect(path).not.toMatch(/^[\\/]|\0|\\|\/$|^$/);
        expect(normalizeWorkspacePath(path)).toBe(path);
      }),
      { numRuns: 1_000 },
    );
  });
});
