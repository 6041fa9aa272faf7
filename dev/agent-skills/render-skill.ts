import { dump } from 'js-yaml';
import type { AgentSkillText } from '../../src/agent-skills/agent-skill.ts';
import { VERSION } from '../../src/version.ts';
import type { Introduction } from './read-introduction.ts';

/** What the texts with requests begin with, so that each can be used alone. */
const BEFORE = `Before: \`$URL\` is the address of the gateway (\`http://127.0.0.1:8787\` after \`npm start\`), \`$API_KEY\` an API key (\`omr_…\`) and
\`$MANAGEMENT_TOKEN\` the token of its management, which may do everything. Either is sent as \`Authorization: Bearer …\`. Errors are
\`{error, code, details?}\`; any request may be answered 400 \`invalid_request\` (\`details\` names each fault), 401 \`unauthorized\`, 403
\`forbidden\` (the key lacks a scope), 429 \`rate_limited\` (wait \`retry-after\` seconds) or 503. The line behind a command is what it answers.`;

/** A SKILL.md in the format of https://agentskills.io/specification: what a person wrote, then the parts that are made from the product. */
export function renderSkill(
  { category, area }: Pick<AgentSkillText, 'category' | 'area'>,
  { description, text }: Introduction,
  parts: readonly string[],
): AgentSkillText {
  const name = `omniroute-${category}-${area}`;
  const frontmatter = dump(
    {
      name,
      description,
      license: 'MIT',
      compatibility: `Needs ${category === 'cli' ? 'Node 20 and ' : ''}HTTP access to an OmniRoute Edge gateway`,
      metadata: { category, area, version: VERSION },
    },
    { lineWidth: -1 },
  );
  const [title = '', ...rest] = text.split('\n\n');
  const markdown = `${['---', frontmatter.trim(), '---', ''].join('\n')}\n${[title, ...(category === 'cli' ? [] : [BEFORE]), ...rest, ...parts].join('\n\n')}\n`;
  return { id: name, name, description, category, area, markdown };
}
