import { describe, expect, it } from 'vitest';
import type { AgentSkillText } from '../../src/agent-skills/agent-skill.ts';
import { createAgentSkillCatalogue, type GeneratedAgentSkills } from '../../src/agent-skills/catalogue.ts';

const text = (category: AgentSkillText['category'], area: string): AgentSkillText => {
  const id = `omniroute-${category}-${area}`;
  return { id, name: id, description: `About ${area}`, category, area, markdown: `# ${area}` };
};
const none = { total: 0, covered: 0, missing: [] };
const GENERATED: GeneratedAgentSkills = {
  AGENT_SKILLS: [text('api', 'approvals'), text('api', 'skills'), text('guide', 'approvals')],
  AGENT_SKILL_COVERAGE: { operations: { total: 2, covered: 1, missing: ['GET /a'] }, tools: none, commands: none },
};

function open() {
  let loads = 0;
  const catalogue = createAgentSkillCatalogue(async () => {
    loads += 1;
    return GENERATED;
  });
  return { catalogue, loads: () => loads };
}

describe('the catalogue of agent skills', () => {
  it('loads its texts when it is asked, not when it is made', async () => {
    const { catalogue, loads } = open();
    expect(loads()).toBe(0);
    await catalogue.coverage();
    expect(loads()).toBe(1);
  });

  it.each([
    [undefined, ['omniroute-api-approvals', 'omniroute-api-skills', 'omniroute-guide-approvals']],
    [{}, ['omniroute-api-approvals', 'omniroute-api-skills', 'omniroute-guide-approvals']],
    [{ category: 'api' } as const, ['omniroute-api-approvals', 'omniroute-api-skills']],
    [{ area: 'approvals' }, ['omniroute-api-approvals', 'omniroute-guide-approvals']],
    [{ category: 'guide', area: 'approvals' } as const, ['omniroute-guide-approvals']],
    [{ category: 'mcp', area: 'approvals' } as const, []],
    [{ category: undefined, area: 'skills' }, ['omniroute-api-skills']],
  ])('lists %j without the Markdown, and the coverage of all', async (filter, ids) => {
    const { skills, count, coverage } = await open().catalogue.list(filter);
    expect(skills.map(({ id }) => id)).toEqual(ids);
    expect(count).toBe(ids.length);
    expect(coverage).toBe(GENERATED.AGENT_SKILL_COVERAGE);
    for (const skill of skills) expect(Object.keys(skill)).toEqual(['id', 'name', 'description', 'category', 'area']);
  });

  it('gives a text by its id alone', async () => {
    const { catalogue } = open();
    expect(await catalogue.get('omniroute-api-skills')).toEqual(text('api', 'skills'));
    for (const id of ['skills', '', '0', 'length', '__proto__', 'OMNIROUTE-API-SKILLS']) expect(await catalogue.get(id)).toBeUndefined();
  });

  it('says so when the texts cannot be loaded', async () => {
    const catalogue = createAgentSkillCatalogue(() => Promise.reject(new Error('no such module')));
    await expect(catalogue.list()).rejects.toThrow('no such module');
    await expect(catalogue.get('omniroute-api-skills')).rejects.toThrow('no such module');
  });
});
