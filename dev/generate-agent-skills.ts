import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AGENT_SKILL_CATEGORIES, type AgentSkillCoverage, type AgentSkillText } from '../src/agent-skills/agent-skill.ts';
import { operationsOf } from '../src/api/read-openapi.ts';
import { commandsOf, renderCommands } from './agent-skills/commands.ts';
import { measureCoverage } from './agent-skills/measure-coverage.ts';
import { operationName, renderOperations } from './agent-skills/operations.ts';
import { describeProduct, type Product } from './agent-skills/product.ts';
import { readIntroduction } from './agent-skills/read-introduction.ts';
import { renderSkill } from './agent-skills/render-skill.ts';
import { renderTools } from './agent-skills/tools.ts';

const ROOT = join(import.meta.dirname, '..');
const INTRODUCTIONS = join(import.meta.dirname, 'agent-skills', 'introductions');
const MODULE = 'src/agent-skills/generated/agent-skills.ts';

type Category = AgentSkillText['category'];

const areaOf = (tag: string): string => tag.toLowerCase().replaceAll(' ', '-');

/** The areas that a text has been written for, in order. */
function areasOf(category: Category): string[] {
  const folder = join(INTRODUCTIONS, category);
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return files.map((file) => file.replace(/\.md$/, '')).sort();
}

/** The parts of a text that are made from the product. Throws an Error for an area of the API that the API does not have. */
function partsOf({ document, tools, program }: Product, category: Category, area: string): string[] {
  switch (category) {
    case 'api': {
      const operations = operationsOf(document).filter(({ operation }) => areaOf(operation.tags?.[0] ?? '') === area);
      if (operations.length === 0) throw new Error(`No tag of the OpenAPI document is called ${area}, as ${category}/${area}.md is`);
      return [renderOperations(document, operations)];
    }
    case 'mcp':
      return [renderTools(tools)];
    case 'cli':
      return [renderCommands(program)];
    case 'guide':
      return [];
  }
}

const moduleOf = (skills: readonly AgentSkillText[], coverage: AgentSkillCoverage): string => `/** Made by \`npm run skills:generate\`. */
import type { AgentSkillCoverage, AgentSkillText } from '../agent-skill.ts';

export const AGENT_SKILLS: readonly AgentSkillText[] = ${JSON.stringify(skills, undefined, 2)};

export const AGENT_SKILL_COVERAGE: AgentSkillCoverage = ${JSON.stringify(coverage, undefined, 2)};
`;

export interface GeneratedFiles {
  /** What they hold, by their paths from the root. */
  files: Record<string, string>;
  coverage: AgentSkillCoverage;
}

export function generateAgentSkills(product: Product): GeneratedFiles {
  const skills = AGENT_SKILL_CATEGORIES.flatMap((category) =>
    areasOf(category).map((area) =>
      renderSkill({ category, area }, readIntroduction(join(INTRODUCTIONS, category, `${area}.md`)), partsOf(product, category, area)),
    ),
  ).sort((left, right) => (left.id < right.id ? -1 : 1));
  const describable = {
    operations: operationsOf(product.document).map(operationName),
    tools: product.tools.map(({ name }) => name),
    commands: commandsOf(product.program).map(({ name }) => name),
  };
  const coverage = measureCoverage(
    describable,
    skills.map(({ markdown }) => markdown),
  );
  const files = Object.fromEntries(skills.map(({ id, markdown }) => [`skills/${id}/SKILL.md`, markdown]));
  return { files: { ...files, [MODULE]: moduleOf(skills, coverage) }, coverage };
}

/** The SKILL.md files that there are, by their paths from the root. */
export const existingSkillFiles = (): string[] =>
  existsSync(join(ROOT, 'skills')) ? readdirSync(join(ROOT, 'skills')).map((folder) => `skills/${folder}/SKILL.md`) : [];

if (import.meta.main) {
  const { files, coverage } = generateAgentSkills(describeProduct());
  for (const path of existingSkillFiles()) if (files[path] === undefined) rmSync(dirname(join(ROOT, path)), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), text);
  }
  console.log(`${Object.keys(files).length - 1} texts under skills/, and ${MODULE}`);
  const missing = Object.values(coverage).flatMap((part) => part.missing);
  if (missing.length > 0) console.error(`Described nowhere: ${missing.join(', ')}. Write a text in dev/agent-skills/introductions/`);
}
