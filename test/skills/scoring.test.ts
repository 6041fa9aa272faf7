import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { selectAutoSkills } from '../../src/skills/scoring.ts';
import { buildScoringIndex, type ScoringContext } from '../../src/skills/scoring-index.ts';
import { createScoringMemory } from '../../src/skills/scoring-memory.ts';
import type { Skill } from '../../src/skills/skill.ts';
import { makeSkill } from '../support/make-skill.ts';
import { referenceRanking, referenceScore } from './reference-scoring.ts';

const DEFAULTS = { minScore: 3, maxSkills: 5 };

const skill = (fields: Partial<Skill>): Skill => makeSkill({ name: 'zzz', description: '', mode: 'auto', ...fields });

const context = (text: string, more: Partial<ScoringContext> = {}): ScoringContext => ({
  texts: [text],
  provider: 'openai',
  backgroundReason: undefined,
  ...more,
});

/** The score by the index, 0 when it leaves the skill out; checked against the reference on the way. */
function scoreOf(candidate: Skill, asked: ScoringContext): number {
  const score = buildScoringIndex([candidate]).score(asked)[0]?.score ?? 0;
  expect(score).toBe(Math.max(0, referenceScore(candidate, asked)));
  return score;
}

const issueSearch = skill({
  name: 'issueSearch',
  description: 'search github issues and pull requests',
  tags: ['github', 'issues', 'search'],
});
const pdfTools = skill({ name: 'pdf-tools', description: 'Extract text from PDF files', tags: ['pdf'] });
const weather = skill({ name: 'weather' });
const web = skill({ name: 'web' });

describe('worked examples', () => {
  const pdfQuestion = context('Can you extract the text from this pdf?', { provider: 'anthropic' });
  it.each([
    ['issueSearch', issueSearch, context('Please search github issues for flaky tests'), 14],
    ['pdf-tools', pdfTools, pdfQuestion, 9],
    ['pdf-tools with tag claude', { ...pdfTools, tags: ['pdf', 'claude'] }, pdfQuestion, 11],
    ['pdf-tools with tag gpt', { ...pdfTools, tags: ['pdf', 'gpt'] }, pdfQuestion, 7],
    ['weather', weather, context('what is the weather today'), 8],
    ['web', web, context('cobweb cleaning'), 0],
  ])('%s', (_, candidate, asked, expected) => {
    expect(scoreOf(candidate, asked)).toBe(expected);
  });
});

describe('a tag that tells where a skill is from', () => {
  const text = 'Which popular songs does the community buy on the marketplace?';
  const tags = ['Popular', 'marketplace', 'community', 'songs'];
  it.each([
    ['scores nothing for a skill of SkillsMP', 'skillsmp', 3],
    ['scores nothing for a skill of skills.sh', 'skillssh', 3],
    ['is a tag like any other for a skill that somebody wrote', 'local', 12],
  ] as const)('%s', (_, sourceProvider, expected) => {
    expect(scoreOf(skill({ tags, sourceProvider }), context(text))).toBe(expected);
  });
});

describe('the whole name', () => {
  it.each([
    ['stands alone', 'weather', 'weather', 8],
    ['in any case', 'Weather', 'the WEATHER now', 8],
    ['between marks of punctuation', 'web', '(web)', 8],
    ['beside an underscore', 'web', 'my_web_thing', 8],
    ['at the end of a longer word', 'web', 'cobweb', 0],
    ['at the start of a longer word', 'web', 'webs', 0],
    ['before a digit', 'web', 'web3', 0],
    ['before a combining mark that makes another letter', 'web', 'web\u0331', 0],
    ['after an emoji with its variation selector', 'web', '\u2699\ufe0fweb', 8],
    ['beside a script without spaces', 'web', 'これはwebです', 8],
    ['inside a longer word first, then alone', 'web', 'cobweb web', 8],
    ['with dots and dashes', 'my.skill-x', 'run my.skill-x now', 8],
    ['ending in a dash', 'net-', 'net-work', 8],
    ['of one character', 'R', 'use R here', 6],
  ])('%s', (_, name, text, expected) => {
    expect(scoreOf(skill({ name }), context(text))).toBe(expected);
  });
});

describe('name tokens', () => {
  it.each([
    ['camelCase', 'issueSearch', 'an issue', 2],
    ['every separator', 'alpha.beta_gamma-delta', 'alpha beta gamma delta', 8],
    ['capitals before a word', 'parseHTTPBody', 'parse http body', 6],
    ['a digit before a capital', 'base64Encode', 'base64 encode', 4],
    ['no tokens below 3 characters', 'go-to-db', 'go to db', 0],
    ['the same token twice counts once', 'data_data', 'data', 2],
    ['only whole tokens', 'issueSearch', 'issues searching', 0],
  ])('%s', (_, name, text, expected) => {
    expect(scoreOf(skill({ name }), context(text))).toBe(expected);
  });
});

describe('tags', () => {
  it.each([
    ['inside a word', ['log'], 'catalogue', 3],
    ['of several words', ['pull request'], 'a Pull Request', 3],
    ['folded', ['STRASSE'], 'straße', 3],
    ['trimmed', ['  pdf '], 'pdf', 3],
    ['empty ones count for nothing', ['', '   '], 'anything at all', 0],
    ['the same one twice counts once', ['PDF', 'pdf'], 'pdf', 3],
    ['one inside the other count both', ['data', 'database'], 'a database', 6],
    ['one that is a suffix of the other', ['base', 'database'], 'a database', 6],
    ['overlapping ones', ['abc', 'bcd', 'cde'], 'abcde', 9],
    ['of one character', ['c'], 'abc', 3],
    ['a tag that only begins in the text', ['abcx'], 'abc abcy', 0],
    ['not across what composes', ['e'], 'caf\u0065\u0301', 0],
  ])('%s', (_, tags, text, expected) => {
    expect(scoreOf(skill({ tags }), context(text))).toBe(expected);
  });
});

describe('description tokens', () => {
  it.each([
    ['count one each', 'alpha beta', 'beta alpha', 2],
    ['count once', 'alpha alpha', 'alpha alpha', 1],
    ['are whole', 'alphabet', 'alpha', 0],
    ['of less than 3 characters do not count', 'an ox', 'an ox', 0],
    ['that are stop words do not count', 'what is the best way for this', 'what is the way for this', 0],
    ['that are stop words of other languages do not count', 'nicht für avec это これ และ', 'nicht für avec это これ และ', 0],
    ['that tell where it starts from do', 'from', 'from', 1],
  ])('%s', (_, description, text, expected) => {
    expect(scoreOf(skill({ description }), context(text))).toBe(expected);
  });

  it('offers nothing for a question of stop words', () => {
    const index = buildScoringIndex([
      issueSearch,
      pdfTools,
      weather,
      web,
      skill({ name: 'helper', description: 'The best way for this and for that: what you need' }),
    ]);
    expect(selectAutoSkills(index, context('what is the best way for this'), DEFAULTS)).toEqual([]);
  });
});

describe('scripts and folding', () => {
  it.each([
    ['Chinese words inside a sentence', '搜索 文件', '请搜索我的文件', 2],
    ['a Chinese word that is only part of another', '上海', '海上海面', 0],
    ['Japanese words beside Latin ones', 'PDF 天気', '東京の天気をpdfで', 2],
    ['Korean', '파일 검색', '파일 을 검색', 2],
    ['Thai words without spaces', 'ค้นหา เอกสาร', 'ฉันต้องการค้นหาเอกสารนี้', 2],
    ['Hindi, whose words hold combining marks', 'हिन्दी', 'मुझे हिन्दी चाहिए', 1],
    ['Cyrillic in another case', 'ПОГОДА', 'какая погода', 1],
    ['both forms of sigma', 'ΟΔΟΣ', 'οδος οδοσ', 1],
    ['full-width letters', 'ｆｉｌｅ', 'file', 1],
    ['ligatures', 'ﬁle', 'FILE', 1],
    ['composed and decomposed letters', 'café', 'cafe\u0301', 1],
    ['sharp s', 'Straße', 'STRASSE', 1],
    ['letters beyond the first plane', '𐐨𐐩𐐪', '𐐀𐐁𐐂', 1],
    ['two letters beyond the first plane', '𐐨𐐩', '𐐨𐐩', 0],
  ])('%s', (_, description, text, expected) => {
    expect(scoreOf(skill({ description }), context(text))).toBe(expected);
  });

  it('counts words of scripts without spaces far into a long text', () => {
    const text = `${'天地玄黄宇宙洪荒。'.repeat(20_000)}请搜索我的文件`;
    expect(buildScoringIndex([skill({ tags: ['黄宇'], description: '搜索' })]).score(context(text))).toMatchObject([{ score: 4 }]);
  });
});

describe('background', () => {
  it.each([
    ['a token that is in the name', skill({ name: 'background-worker' }), 'header_background', 2],
    ['a tag inside a token', skill({ tags: ['ground'] }), 'header_background', 2],
    ['a token inside a tag', skill({ tags: ['max-out'] }), 'low_max_tokens', 2],
    ['one token in two tags counts once', skill({ tags: ['prompt', 'prompts'] }), 'system_prompt_pattern', 2],
    ['two tokens in one tag count twice', skill({ tags: ['system prompt'] }), 'system_prompt_pattern', 4],
    ['name and tag', skill({ name: 'low', tags: ['low'] }), 'low_max_tokens', 4],
    ['an empty tag is in nothing', skill({ tags: [''] }), 'low_max_tokens', 0],
    ['another reason', skill({ name: 'background' }), 'low_max_tokens', 0],
  ] as const)('%s', (_, candidate, backgroundReason, expected) => {
    expect(scoreOf(candidate, context('', { backgroundReason }))).toBe(expected);
  });
});

describe('provider hints', () => {
  it.each([
    ['fit', ['openai'], 'openai', 8],
    ['fit, by the family of models', ['GPT'], 'openai', 8],
    ['one of several fits', ['claude', 'gemini'], 'google', 8],
    ['none fits', ['claude', 'gemini'], 'openai', 4],
    ['count once', ['openai', 'gpt'], 'openai', 8],
    ['no provider that hints speak of', ['gpt'], undefined, 4],
    ['a tag that only contains a hint', ['gpt-tools'], 'anthropic', 6],
  ] as const)('%s', (_, tags, provider, expected) => {
    const name = 'r';
    expect(scoreOf(skill({ name, tags: [...tags] }), context('r', { provider }))).toBe(expected);
  });

  it('offers a skill on a hint alone when the setting asks for no more', () => {
    const index = buildScoringIndex([skill({ name: 'hinted', tags: ['gpt'] }), skill({ name: 'plain' })]);
    const names = (minScore: number) => selectAutoSkills(index, context('hello'), { minScore, maxSkills: 5 }).map(({ name }) => name);
    expect(names(2)).toEqual(['hinted']);
    expect(names(3)).toEqual([]);
  });
});

describe('selectAutoSkills', () => {
  const named = (name: string, installCount: number) => skill({ name, installCount, tags: ['pdf'] });
  const select = (skills: readonly Skill[], limits = DEFAULTS, text = 'a pdf') =>
    selectAutoSkills(buildScoringIndex(skills), context(text), limits).map(({ name }) => name);

  it('puts the highest score first, then the most installed, then the name that sorts first', () => {
    const best = skill({ name: 'best', tags: ['pdf', 'a p'] });
    expect(select([named('ccc', 5), named('bbb', 5), named('aaa', 1), named('ddd', 9), best])).toEqual([
      'best',
      'ddd',
      'bbb',
      'ccc',
      'aaa',
    ]);
  });

  it('sorts names by code unit, whatever the locale', () => {
    expect(select([named('b', 0), named('B', 0), named('a', 0), named('_', 0)], DEFAULTS, 'pdf')).toEqual(['B', '_', 'a', 'b']);
  });

  it('keeps to the limits', () => {
    const skills = Array.from({ length: 9 }, (_, number) => named(`skill${number}`, number));
    expect(select(skills)).toEqual(['skill8', 'skill7', 'skill6', 'skill5', 'skill4']);
    expect(select(skills, { minScore: 3, maxSkills: 2 })).toEqual(['skill8', 'skill7']);
    expect(select(skills, { minScore: 3, maxSkills: 0 })).toEqual([]);
    expect(select(skills, { minScore: 4, maxSkills: 5 })).toEqual([]);
    expect(select(skills, { minScore: 3, maxSkills: 100 })).toHaveLength(9);
  });

  it('never offers what nothing speaks for', () => {
    expect(select([skill({})], { minScore: 0, maxSkills: 5 })).toEqual([]);
    expect(select([skill({})], { minScore: -5, maxSkills: 5 })).toEqual([]);
  });

  it('returns the skills as they were given', () => {
    const index = buildScoringIndex([weather]);
    expect(selectAutoSkills(index, context('weather'), DEFAULTS)[0]).toBe(weather);
  });

  it('works without skills and without text', () => {
    expect(select([])).toEqual([]);
    expect(select([weather], DEFAULTS, '')).toEqual([]);
  });

  it('counts once what stands in several texts, and finds a tag with a line break across two', () => {
    const index = buildScoringIndex([skill({ name: 'breaks', tags: ['one\ntwo'], description: 'weather' })]);
    const scoreOfTexts = (...texts: string[]) => index.score({ texts, provider: 'openai', backgroundReason: undefined })[0]?.score;
    expect([scoreOfTexts('weather', 'weather'), scoreOfTexts('one', 'two'), scoreOfTexts('two', 'one')]).toEqual([1, 3, undefined]);
  });

  it('forgets one request before the next', () => {
    const index = buildScoringIndex([issueSearch, pdfTools, weather]);
    const asked = [context('weather'), context('été pdf'), context('github'), context(''), context('pdf 天気')];
    const once = asked.map((each) => buildScoringIndex([issueSearch, pdfTools, weather]).score(each));
    expect([...asked, ...asked].map((each) => index.score(each))).toEqual([...once, ...once]);
  });
});

describe('the index and the plain rules', () => {
  const word = fc.constantFrom(
    ...[
      'data',
      'Data',
      'database',
      'base',
      'search',
      'Search',
      'web',
      'cobweb',
      'from',
      'the',
      'way',
      'pdf',
      'PDF',
      'gpt',
      'Claude',
      'gemini',
    ],
    ...['google', 'low', 'max', 'tokens', 'header', 'background', 'ground', 'system', 'prompt', 'straße', 'STRASSE', 'café', 'cafe\u0301'],
    ...[
      'ﬁle',
      'file',
      'ΟΔΟΣ',
      'οδος',
      'İstanbul',
      '搜索',
      '文件',
      '搜索文件',
      '天気',
      'ファイル',
      '파일',
      'ค้นหา',
      'เอกสาร',
      'हिन्दी',
      '𐐨𐐩𐐪',
      'を',
      'x',
      'ab',
    ],
  );
  const glue = fc.constantFrom(' ', ' ', ' ', '', '-', '_', '.', '\n', '\u0301', '\u200d', '\u2699\ufe0f', '\ud800');
  const phrase = (maxLength: number) =>
    fc.array(fc.tuple(word, glue), { maxLength }).map((parts) => parts.map(([text, after]) => text + after).join(''));
  const asciiWord = fc.constantFrom('data', 'Data', 'base', 'search', 'Search', 'HTTP', 'web', 'pdf', 'low', 'background', 'x', '64');
  const name = fc
    .tuple(asciiWord, fc.array(fc.tuple(fc.constantFrom('', '-', '_', '.'), asciiWord), { maxLength: 3 }), fc.constantFrom('', '', '', '-'))
    .map(([first, more, last]) => first + more.flat().join('') + last);
  const skills = fc.uniqueArray(
    fc
      .record({
        name,
        description: phrase(8),
        tags: fc.array(fc.oneof(word, phrase(2), fc.string({ maxLength: 4 })), { maxLength: 4 }),
        installCount: fc.nat(2),
      })
      .map(skill),
    { maxLength: 12, selector: (each) => each.name },
  );
  const asked = fc.record({
    texts: fc.array(
      fc.oneof(
        { weight: 4, arbitrary: phrase(25) },
        { weight: 2, arbitrary: phrase(25).map((text) => `${text} `.repeat(5)) },
        { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
      ),
      { maxLength: 4 },
    ),
    provider: fc.constantFrom('openai', 'anthropic', 'google', undefined),
    backgroundReason: fc.constantFrom('header_background', 'low_max_tokens', 'system_prompt_pattern', undefined),
  });

  it('agree on every score and on the order', () => {
    fc.assert(
      fc.property(skills, fc.array(asked, { minLength: 1, maxLength: 4 }), fc.nat(6), fc.nat(6), (given, contexts, minScore, maxSkills) => {
        // So little that some of the texts are remembered and some are not.
        const index = buildScoringIndex(given, createScoringMemory(1_000));
        for (const each of [...contexts, ...contexts]) {
          const expected = referenceRanking(given, each);
          expect(index.score(each)).toEqual(expected);
          const offered = expected.filter(({ score }) => score >= minScore).slice(0, maxSkills);
          expect(selectAutoSkills(index, each, { minScore, maxSkills })).toEqual(offered.map((scored) => scored.skill));
        }
      }),
      { numRuns: 1_000 },
    );
  }, 60_000);
});
