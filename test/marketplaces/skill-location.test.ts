import { describe, expect, it } from 'vitest';
import { locateByGithubUrl, locateSkill } from '../../src/marketplaces/skill-location.ts';

const RAW = 'https://raw.githubusercontent.com';

describe('locateByGithubUrl', () => {
  it.each([
    ['https://github.com/o/r', 'r', ['o/r/main/SKILL.md', 'o/r/master/SKILL.md']],
    ['https://github.com/o/r.git/', 'r', ['o/r/main/SKILL.md', 'o/r/master/SKILL.md']],
    ['https://www.github.com/o/r/tree/main', 'r', ['o/r/main/SKILL.md', 'o/r/master/SKILL.md']],
    ['https://github.com/o/r/tree/master/a/b/', 'b', ['o/r/master/a/b/SKILL.md', 'o/r/main/a/b/SKILL.md']],
    ['https://github.com/o/r/tree/v1.2/a', 'a', ['o/r/v1.2/a/SKILL.md']],
    ['https://github.com/o/r/tree/feature/x/a', 'a', ['o/r/feature/x/a/SKILL.md']],
    ['https://github.com/o/r/blob/main/a/SKILL.md?plain=1#L3', 'a', ['o/r/main/a/SKILL.md']],
    ['https://github.com/o/r/blob/main/skill.md', 'r', ['o/r/main/skill.md']],
    ['https://github.com/o/r/raw/main/a/SKILL.md', 'a', ['o/r/main/a/SKILL.md']],
    ['https://raw.githubusercontent.com/o/r/main/a/SKILL.md', 'a', ['o/r/main/a/SKILL.md']],
    ['https://raw.githubusercontent.com/o/r/refs/heads/main/a/SKILL.md', 'a', ['o/r/refs/heads/main/a/SKILL.md']],
    [
      'https://github.com/o/r/tree/main/Mein%20Ordner/%C3%A9',
      'é',
      ['o/r/main/Mein%20Ordner/%C3%A9/SKILL.md', 'o/r/master/Mein%20Ordner/%C3%A9/SKILL.md'],
    ],
    ['HTTPS://GITHUB.COM/o/r/tree/dev/a..b', 'a..b', ['o/r/dev/a..b/SKILL.md']],
  ])('%s', (githubUrl, folder, files) => {
    expect(locateByGithubUrl(githubUrl, RAW)).toEqual({ repository: 'o/r', folder, urls: files.map((file) => `${RAW}/${file}`) });
  });

  it('reads everything from the base that is configured, whose own addresses are allowed too', () => {
    const base = 'http://127.0.0.1:9000/raw';
    const { urls } = locateByGithubUrl('https://raw.githubusercontent.com/o/r/main/a/SKILL.md', base);
    expect(urls).toEqual([`${base}/o/r/main/a/SKILL.md`]);
    expect(locateByGithubUrl(`${base}/o/r/main/a/SKILL.md`, base).urls).toEqual(urls);
    for (const other of ['http://127.0.0.1:9000/rawer/o/r/main/a/SKILL.md', 'http://127.0.0.1:9001/raw/o/r/main/a/SKILL.md']) {
      expect(() => locateByGithubUrl(other, base)).toThrow('githubUrl: Use an https URL on github.com, without dot segments');
    }
  });

  it.each([
    'https://github.com/o/r/blob/main/README.md',
    'https://github.com/o/r/blob/main',
    'https://github.com/o/r/tree',
    'https://github.com/o/r/tree/main/a/SKILL.md',
    'https://github.com/o/r/releases/tag/v1',
    'https://raw.githubusercontent.com/o/r/main',
    'https://github.com/o/r/tree/main//a',
    'https://github.com/o/r/tree/main/%ff',
    'https://github.com/o/r/tree/main/%00',
    'https://github.com/-o/r',
    'https://github.com/o/r%20r',
  ])('refuses %s', (githubUrl) => {
    expect(() => locateByGithubUrl(githubUrl, RAW)).toThrow('githubUrl: Use the URL of a repository, of a folder in it or of its SKILL.md');
  });
});

describe('locateSkill', () => {
  it('looks in skills/ and at the root of main, then of master', () => {
    expect(locateSkill('My-Org/r.x_y', 'react:components', RAW)).toEqual({
      repository: 'My-Org/r.x_y',
      folder: 'react:components',
      urls: [
        `${RAW}/My-Org/r.x_y/main/skills/react%3Acomponents/SKILL.md`,
        `${RAW}/My-Org/r.x_y/main/react%3Acomponents/SKILL.md`,
        `${RAW}/My-Org/r.x_y/master/skills/react%3Acomponents/SKILL.md`,
        `${RAW}/My-Org/r.x_y/master/react%3Acomponents/SKILL.md`,
      ],
    });
  });
});
