import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAILSAFE_SCHEMA, load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { measureCoverage } from '../../dev/agent-skills/measure-coverage.ts';
import { describeProduct } from '../../dev/agent-skills/product.ts';
import { readIntroduction } from '../../dev/agent-skills/read-introduction.ts';
import { existingSkillFiles, generateAgentSkills } from '../../dev/generate-agent-skills.ts';
import { AGENT_SKILL_COVERAGE, AGENT_SKILLS } from '../../src/agent-skills/generated/agent-skills.ts';
import { parseSkillMarkdown } from '../../src/marketplaces/skill-markdown.ts';
import { VERSION } from '../../src/version.ts';

const root = join(import.meta.dirname, '..', '..');
const product = describeProduct();
const { files } = generateAgentSkills(product);

describe('what `npm run skills:generate` writes', () => {
  it.each(Object.entries(files))('%s is up to date', (path, text) => {
    expect(existsSync(join(root, path)), 'npm run skills:generate').toBe(true);
    expect(readFileSync(join(root, path), 'utf8') === text, 'npm run skills:generate').toBe(true);
  });

  it('is all that there is under skills/', () => {
    expect(existingSkillFiles().sort()).toEqual(Object.keys(files).filter((path) => path.startsWith('skills/')));
  });

  it('holds each text once, under its id', () => {
    expect(AGENT_SKILLS.map(({ id }) => `skills/${id}/SKILL.md`)).toEqual(existingSkillFiles().sort());
    for (const { id, markdown } of AGENT_SKILLS) expect(markdown).toBe(readFileSync(join(root, 'skills', id, 'SKILL.md'), 'utf8'));
  });
});

describe('the coverage', () => {
  it('is whole', () => {
    const { operations, tools, commands } = AGENT_SKILL_COVERAGE;
    for (const part of [operations, tools, commands]) {
      expect(part.missing).toEqual([]);
      expect(part.covered).toBe(part.total);
    }
    expect(operations.total).toBe(Object.values(product.document.paths ?? {}).flatMap((item) => Object.keys(item)).length);
    expect(tools.total).toBe(product.tools.length);
    expect(tools.total).toBeGreaterThan(5);
    expect(commands.total).toBeGreaterThan(15);
  });

  it('tells what no text names as code or has a heading of', () => {
    const texts = ['Call `GET /api/skills`.\n', '## Tools\n\n### one_tool\n\nPOST /api/skills and another_tool'];
    const names = { operations: ['GET /api/skills', 'POST /api/skills', 'GET /api'], tools: ['one_tool', 'another_tool'], commands: [] };
    expect(measureCoverage(names, texts)).toEqual({
      operations: { total: 3, covered: 1, missing: ['POST /api/skills', 'GET /api'] },
      tools: { total: 2, covered: 1, missing: ['another_tool'] },
      commands: { total: 0, covered: 0, missing: [] },
    });
  });

  it('counts an operation whose area nobody has written about as missing', () => {
    const { paths = {}, ...rest } = product.document;
    const weather = { get: { tags: ['Weather'], summary: 'The weather', responses: {} } };
    const { coverage } = generateAgentSkills({ ...product, document: { ...rest, paths: { ...paths, '/weather': weather } } });
    expect(coverage.operations.missing).toEqual(['GET /weather']);
  });

  it('is of areas that the API has', () => {
    const document = { ...product.document, paths: {} };
    expect(() => generateAgentSkills({ ...product, document })).toThrow(
      'No tag of the OpenAPI document is called agent-skills, as api/agent-skills.md is',
    );
  });
});

/** The rules of https://agentskills.io/specification. */
describe.each(AGENT_SKILLS.map((skill) => [skill.id, skill] as const))('%s', (id, { name, description, category, area, markdown }) => {
  const [, yaml = '', body = ''] = /^---\n(.*?)\n---\n\n(.*)$/s.exec(markdown) ?? [];
  const fields = load(yaml, { schema: FAILSAFE_SCHEMA });

  it('has the frontmatter of an Agent Skill', () => {
    expect(name).toBe(id);
    expect(id).toBe(`omniroute-${category}-${area}`);
    expect(id).toMatch(/^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(fields).toEqual({
      name,
      description,
      license: 'MIT',
      compatibility: expect.stringMatching(/^.{1,500}$/),
      metadata: { category, area, version: VERSION },
    });
  });

  it('says what it is about and when to use it', () => {
    expect(description).toMatch(/\bUse (when|to|for)\b/);
    expect(description.length).toBeGreaterThan(100);
    expect(description.length).toBeLessThanOrEqual(1024);
  });

  it('is short enough to be read at once', () => {
    expect(body).toMatch(/^# .+\n/);
    expect(body.length).toBeLessThan(20_000);
    expect(body.split('\n').length).toBeLessThan(500);
    expect(body).not.toMatch(/undefined|\[object|NaN|TODO/);
  });

  it('can be installed into a gateway as a skill', () => {
    expect(parseSkillMarkdown(markdown)).toMatchObject({ name, description, version: VERSION, instructions: body.trim() });
  });

  it('names no other text that there is not', () => {
    const named = [...body.matchAll(/omniroute-(?:api|mcp|cli|guide)-[a-z-]+/g)].map(([match]) => match);
    expect(named.filter((other) => !AGENT_SKILLS.some((skill) => skill.id === other))).toEqual([]);
  });
});

describe('an introduction', () => {
  it.each([
    ['# Without', 'does not begin with frontmatter'],
    ['---\ndescription: ""\n---\n# Empty', 'description'],
    [`---\ndescription: ${'a'.repeat(1025)}\n---\n# Long`, 'description'],
    ['---\ndescription: Fine\ntitle: Odd\n---\n# Odd', 'title'],
  ])('%s is refused with the name of its file', (text, fault) => {
    const folder = mkdtempSync(join(tmpdir(), 'omniroute-introduction-'));
    const file = join(folder, 'skills.md');
    try {
      writeFileSync(file, text);
      expect(() => readIntroduction(file)).toThrow(fault);
      expect(() => readIntroduction(file)).toThrow(file);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
