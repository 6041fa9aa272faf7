import type { MarketplaceName } from './marketplace.ts';
import { locateSkill } from './skill-location.ts';
import type { SkillsShListing } from './skills-sh.ts';
import type { SkillsMpListing } from './skillsmp.ts';

/** [repository, folder in `skills/`, what it is for]. */
const POPULAR_SKILLS = [
  ['anthropics/skills', 'pdf', 'Read, split, merge, fill in and create PDF files.'],
  ['anthropics/skills', 'docx', 'Create and edit Word documents.'],
  ['anthropics/skills', 'xlsx', 'Create, edit and evaluate spreadsheets.'],
  ['anthropics/skills', 'pptx', 'Create and edit presentations.'],
  ['anthropics/skills', 'frontend-design', 'Design web pages and components that look like no template.'],
  ['anthropics/skills', 'webapp-testing', 'Test web applications in a browser.'],
  ['anthropics/skills', 'mcp-builder', 'Build servers for the Model Context Protocol.'],
  ['anthropics/skills', 'skill-creator', 'Write and improve skills.'],
  ['obra/superpowers', 'brainstorming', 'Turn an idea into a design by asking questions first.'],
  ['obra/superpowers', 'systematic-debugging', 'Find the cause of a fault before fixing it.'],
  ['obra/superpowers', 'test-driven-development', 'Write the failing test before the code.'],
] as const;

export const POPULAR_SKILLSMP: readonly SkillsMpListing[] = POPULAR_SKILLS.map(([repository, folder, description]) => ({
  id: `${repository}/${folder}`,
  name: folder,
  author: repository.split('/')[0] ?? null,
  description,
  githubUrl: `https://github.com/${repository}/tree/main/skills/${folder}`,
  skillUrl: null,
  stars: null,
  updatedAt: null,
}));

export const POPULAR_SKILLSSH: readonly SkillsShListing[] = POPULAR_SKILLS.map(([source, skillId]) => ({
  id: `${source}/${skillId}`,
  skillId,
  name: skillId,
  installs: null,
  source,
}));

/** What is shown before anybody has searched, in the shape of the marketplace's own listings. */
export const popularDefaults = (marketplace: MarketplaceName): readonly (SkillsMpListing | SkillsShListing)[] =>
  marketplace === 'skillsmp' ? POPULAR_SKILLSMP : POPULAR_SKILLSSH;

/** Whether a SKILL.md was read where the list says: under any other branch or commit a repository also has what its forks hold. */
export const isPopular = (url: string, rawBaseUrl: string): boolean =>
  POPULAR_SKILLS.some(([repository, folder]) => locateSkill(repository, folder, rawBaseUrl).urls[0] === url);
