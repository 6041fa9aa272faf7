import { describe, expect, it } from 'vitest';
import { parseSkillMarkdown } from '../../src/marketplaces/skill-markdown.ts';

const file = (...frontmatter: string[]) => parseSkillMarkdown(`---\n${frontmatter.join('\n')}\n---\nDo it.`);

describe('parseSkillMarkdown', () => {
  it('reads what a SKILL.md says', () => {
    expect(
      file('name: pdf', 'description: >-', '  Reads', '  PDF files', 'version: 1.10', 'tags: [pdf, 2, " a "]', 'license: MIT'),
    ).toEqual({
      ...{ name: 'pdf', description: 'Reads PDF files', version: '1.10', tags: ['pdf', '2', 'a'], instructions: 'Do it.' },
    });
  });

  it('finds version and tags in the metadata, and takes tags with commas', () => {
    const metadata = ['metadata:', '  version: "2.0"', '  tags: a b, c,,'];
    expect(file('name: x', ...metadata)).toMatchObject({ version: '2.0', tags: ['a b', 'c'] });
    expect(file('version: 3', 'tags: own', ...metadata)).toMatchObject({ version: '3', tags: ['own'] });
  });

  it('takes scalars for text and leaves aside what is none', () => {
    const read = file('name: true', 'description: [a]', 'version: {a: b}', 'tags: {a: b}', '__proto__: {name: x}');
    expect(read).toMatchObject({ name: 'true', description: undefined, version: undefined, tags: [] });
  });

  it('reads values that hold a colon, as many authors write them', () => {
    const read = file('name: x', 'description: Use when: "a" or b: c', 'tags: [a, b]', '# a comment');
    expect(read).toMatchObject({ description: 'Use when: "a" or b: c', tags: ['a', 'b'] });
    expect(file('name: x', 'description: @mentions are read')).toMatchObject({ description: '@mentions are read' });
  });

  it('reads files of Windows, and keeps what stands below the frontmatter', () => {
    const { name, instructions } = parseSkillMarkdown('---\r\nname: x\r\n---  \r\n\r\n# A\r\n\r\n---\r\nB\r\n');
    expect([name, instructions]).toEqual(['x', '# A\n\n---\nB']);
  });

  it.each(['# Title\n\nText\n---\nname: x\n---', 'Text', ' ---\nname: x\n---\n'])('knows a file without frontmatter: %j', (text) => {
    expect(parseSkillMarkdown(text)).toEqual({
      ...{ name: undefined, description: undefined, version: undefined, tags: [], instructions: text.trim() },
    });
  });

  it('takes an empty frontmatter', () => {
    expect(parseSkillMarkdown('---\n---\nx')).toMatchObject({ name: undefined, instructions: 'x' });
  });

  it.each([
    ['a tag of a language', ['name: !!js/function "x"']],
    ['two documents', ['name: x', '...', 'name: y']],
    ['a key twice', ['name: x', 'name: y']],
    ['a list', ['- a']],
    ['a text', ['a']],
    ['deep nesting', [`name: ${'['.repeat(50_000)}`]],
    ['an unknown alias', ['name: *x']],
  ])('refuses a frontmatter that is no mapping: %s', (_, frontmatter) => {
    expect(() => file(...frontmatter)).toThrow('The frontmatter of SKILL.md is not valid YAML');
  });

  it('survives aliases of aliases', () => {
    const levels = Array.from({ length: 30 }, (_, level) => `k${level + 1}: &k${level + 1} [${'*k'.concat(String(level), ',').repeat(9)}]`);
    expect(file('name: x', 'k0: &k0 [a]', ...levels, 'tags: *k30')).toMatchObject({ name: 'x', tags: [] });
  });
});
