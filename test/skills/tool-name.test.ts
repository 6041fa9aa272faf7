import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TOOL_NAME, toolName } from '../../src/skills/tool-name.ts';

const digestOf = (key: string) => createHash('sha256').update(key).digest('hex').slice(0, 8);

describe('toolName', () => {
  it.each([
    ['weather', '1.0.0', 'weather_v1_0_0'],
    ['file_read', '2.10.3', 'file_read_v2_10_3'],
    ['pdf-tools', '1.2.3', 'pdf-tools_v1_2_3'],
    ['issueSearch', '0.0.1', 'issueSearch_v0_0_1'],
    ['n'.repeat(57), '1.0.0', `${'n'.repeat(57)}_v1_0_0`],
  ])('keeps %s@%s readable', async (name, version, expected) => {
    expect(await toolName({ name, version })).toBe(expected);
  });

  it.each([
    ['my.skill', '1.0.0', `my_skill_v1_0_0_${digestOf('my.skill@1.0.0')}`],
    ['7zip', '1.0.0', `s7zip_v1_0_0_${digestOf('7zip@1.0.0')}`],
    ['n'.repeat(58), '1.0.0', `${'n'.repeat(55)}_${digestOf(`${'n'.repeat(58)}@1.0.0`)}`.slice(0, 64)],
    ['a', `1.0.${'9'.repeat(70)}`, `${`a_v1_0_${'9'.repeat(70)}`.slice(0, 55)}_${digestOf(`a@1.0.${'9'.repeat(70)}`)}`],
  ])('makes a slug with a digest of %s@%s', async (name, version, expected) => {
    expect(await toolName({ name, version })).toBe(expected);
  });

  it('pins the digest', async () => {
    expect(await toolName({ name: 'my.skill', version: '1.0.0' })).toMatchInlineSnapshot(`"my_skill_v1_0_0_4e4825b3"`);
  });

  const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,70}$/);
  const version = fc.tuple(fc.nat(30), fc.nat(30), fc.nat(30)).map((parts) => parts.join('.'));

  it('is valid, and differs for skills that differ', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.record({ name, version }), { selector: (skill) => `${skill.name}@${skill.version}` }),
        async (skills) => {
          const names = await Promise.all(skills.map(toolName));
          for (const made of names) expect(made).toMatch(TOOL_NAME);
          expect(new Set(names).size).toBe(skills.length);
        },
      ),
    );
  });

  it('keeps apart what the same slug stands for', async () => {
    const names = await Promise.all(['a.b', 'a_b', 'a.b_v1', 'a-b'].map((each) => toolName({ name: each, version: '1.0.0' })));
    expect(new Set(names).size).toBe(4);
  });
});
