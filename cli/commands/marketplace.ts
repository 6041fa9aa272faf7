import { type Command, Option } from 'commander';
import { asText, type JsonObject, objectsOf } from '../../src/json.ts';
import { MARKETPLACES } from '../choices.ts';
import { cleanLine } from '../clean-text.ts';
import { addGroup, addPageOptions, type Start } from '../define-command.ts';
import { CommandError, usageError } from '../exit-code.ts';
import type { Gateway } from '../gateway.ts';
import type { Column } from '../render-table.ts';
import type { Session } from '../session.ts';

type Marketplace = 'skillsmp' | 'skillssh';

const PATHS: Record<Marketplace, string> = { skillsmp: '/api/skills/marketplace', skillssh: '/api/skills/skillssh' };
const COLUMNS: Record<Marketplace, Column[]> = {
  skillsmp: [
    { title: 'name' },
    { title: 'stars' },
    { title: 'install', cell: ({ githubUrl }) => asText(githubUrl) },
    { title: 'description', isFlexible: true },
  ],
  skillssh: [
    { title: 'name' },
    { title: 'installs' },
    { title: 'install', cell: ({ source, skillId }) => `${asText(source)}/${asText(skillId)}` },
  ],
};

/** The marketplace that the gateway installs from, as far as the token may see it. */
async function activeMarketplace(gateway: Gateway): Promise<Marketplace> {
  try {
    const { skillsProvider } = await gateway.call('/api/settings');
    return skillsProvider === 'skillssh' ? 'skillssh' : 'skillsmp';
  } catch (error) {
    if (error instanceof CommandError && error.reason.code === 'forbidden') return 'skillsmp';
    throw error;
  }
}

/** What is asked to be installed: an address on GitHub, or `owner/repository/skill`. */
function readListing(reference: string): { marketplace: Marketplace; listing: JsonObject } {
  if (/^https?:/i.test(reference)) return { marketplace: 'skillsmp', listing: { githubUrl: reference } };
  const [, source, skillId] = /^([^/\s]+\/[^/\s]+)\/(\S+)$/.exec(reference) ?? [];
  if (source === undefined || skillId === undefined) {
    throw usageError(`Not a skill of a marketplace: ${reference}. Use https://github.com/... or owner/repository/skill`);
  }
  return { marketplace: 'skillssh', listing: { source, skillId } };
}

async function install(session: Session, reference: string): Promise<void> {
  const { marketplace, listing } = readListing(reference);
  const installed = await session.gateway.call(`${PATHS[marketplace]}/install`, { method: 'POST', body: listing });
  await session.print(
    installed,
    () => `installed ${cleanLine(`${asText(installed.name)}@${asText(installed.version)}`)} as ${asText(installed.id)}\n`,
  );
  const findings = objectsOf(installed.riskFindings).map(({ risk, line, text }) => `\n  line ${line}, ${risk}: ${cleanLine(asText(text))}`);
  if (findings.length > 0) await session.remark(`read before a model follows it:${findings.join('')}`);
}

/** `marketplace`: skills of others. */
export function addMarketplaceCommand(program: Command, start: Start): void {
  const group = addGroup(program, 'marketplace', 'find and install skills of others');
  const search = group
    .command('search')
    .description('search a marketplace; without words it lists well-known skills')
    .argument('[words...]', 'what to look for')
    .addOption(new Option('--from <marketplace>', 'default: the one that the gateway installs from').choices(MARKETPLACES))
    .addOption(new Option('--sort <order>', 'order of SkillsMP').choices(['stars', 'recent']));
  addPageOptions(search, 100).action((words: string[], { from, sort: sortBy, page, limit }, command: Command) =>
    start(command, async (session) => {
      const marketplace: Marketplace = from ?? (await activeMarketplace(session.gateway));
      const query = { q: words.join(' ') || undefined, limit, ...(marketplace === 'skillsmp' && { page, sortBy }) };
      await session.printList(await session.gateway.call(PATHS[marketplace], { query }), COLUMNS[marketplace], 'no skills found');
    }),
  );
  group
    .command('install')
    .description('install a skill of a marketplace')
    .argument('<reference>', 'https://github.com/... as SkillsMP lists it, or owner/repository/skill as skills.sh does')
    .action((reference: string, _options, command: Command) => start(command, (session) => install(session, reference)));
}
