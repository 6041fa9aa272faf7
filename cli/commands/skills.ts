import { Argument, type Command, Option } from 'commander';
import { asArray, asText, type JsonObject } from '../../src/json.ts';
import { MODES, SOURCES } from '../choices.ts';
import { cleanLine } from '../clean-text.ts';
import { addGroup, addPageOptions, type Start } from '../define-command.ts';
import { findSkill } from '../find-skill.ts';
import { pathTo } from '../gateway.ts';
import { readSkill } from '../read-skill.ts';
import { renderFields } from '../render-fields.ts';
import type { Column } from '../render-table.ts';
import type { Session } from '../session.ts';

const COLUMNS: Column[] = [
  { title: 'skill', cell: ({ name, version }) => `${asText(name)}@${asText(version)}` },
  { title: 'mode' },
  { title: 'policy' },
  { title: 'source', cell: ({ sourceProvider }) => asText(sourceProvider) },
  { title: 'description', isFlexible: true },
];

const SKILL = ['<skill>', 'its name, name@version or id'] as const;

const nameOf = ({ name, version }: JsonObject): string => cleanLine(`${asText(name)}@${asText(version)}`);

async function change(session: Session, reference: string, changes: JsonObject): Promise<void> {
  const skill = await findSkill(session.gateway, reference);
  await session.gateway.call(pathTo('/api/skills', asText(skill.id)), { method: 'PUT', body: changes });
  const changed = await session.gateway.call(pathTo('/api/skills', asText(skill.id)));
  await session.print(changed, () => `${nameOf(changed)} has the mode ${asText(changed.mode)} and the policy ${asText(changed.policy)}\n`);
}

async function install(session: Session, source: string, { mode, owner }: { mode?: string; owner?: string }): Promise<void> {
  const skill = await readSkill(source, session.terminal.stdin);
  const body: JsonObject = { ...skill, ...(mode !== undefined && { mode }), ...(owner !== undefined && { apiKeyId: owner }) };
  const installed = await session.gateway.call('/api/skills/install', { method: 'POST', body });
  await session.print(installed, () => `installed ${cleanLine(asText(body.name))} as ${asText(installed.id)}\n`);
}

/** `skills`: what models are offered, and whether. */
export function addSkillsCommand(program: Command, start: Start): void {
  const group = addGroup(program, 'skills', 'list, install and switch skills');
  const list = group
    .command('list')
    .description('list skills')
    .option('-q, --query <text>', 'part of a name, description or tag')
    .addOption(new Option('--mode <mode>', 'only those of this mode').choices(MODES))
    .addOption(new Option('--source <source>', 'only those from there').choices(SOURCES));
  addPageOptions(list).action(({ query: q, mode, source, page, limit }, command: Command) =>
    start(command, async (session) => {
      const answer = await session.gateway.call('/api/skills', { query: { q, mode, source, page, limit } });
      await session.printList(answer, COLUMNS, 'no skills');
    }),
  );
  group
    .command('get')
    .description('show one skill with its schema')
    .argument(...SKILL)
    .action((reference: string, _options, command: Command) =>
      start(command, async (session) => {
        const skill = await findSkill(session.gateway, reference);
        await session.print(skill, () => renderFields(skill));
        const findings = asArray(skill.riskFindings).length;
        if (findings > 0) await session.remark(`${findings} passages to read before a model follows them: riskFindings`);
      }),
    );
  group
    .command('install')
    .description('install a custom skill')
    .argument('<source>', 'a folder with a skill.json or SKILL.md, such a file, or - for the JSON on standard input')
    .addOption(new Option('--mode <mode>', 'instead of what the file says').choices(MODES))
    .option('--owner <id>', 'id of the API key that it is for; everybody’s without')
    .action((source: string, options, command: Command) => start(command, (session) => install(session, source, options)));
  for (const [name, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    group
      .command(name)
      .description(enabled ? 'let a skill be offered and run' : 'let nobody run a skill')
      .argument(...SKILL)
      .action((reference: string, _options, command: Command) => start(command, (session) => change(session, reference, { enabled })));
  }
  group
    .command('mode')
    .description('say whether models are offered a skill: always, never, or when it fits a request')
    .argument(...SKILL)
    .addArgument(new Argument('<mode>', 'the mode').choices(MODES))
    .action((reference: string, mode: string, _options, command: Command) =>
      start(command, (session) => change(session, reference, { mode })),
    );
}
