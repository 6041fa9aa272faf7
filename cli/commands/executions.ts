import { type Command, Option } from 'commander';
import { EXECUTION_STATUSES } from '../../src/execution/execution.ts';
import { asText } from '../../src/json.ts';
import { addGroup, addPageOptions, type Start } from '../define-command.ts';
import { pathTo } from '../gateway.ts';
import { renderFields } from '../render-fields.ts';
import type { Column } from '../render-table.ts';

const COLUMNS: Column[] = [
  { title: 'id' },
  { title: 'skill', cell: ({ skillName, skillVersion }) => `${asText(skillName)}@${asText(skillVersion)}` },
  { title: 'status' },
  { title: 'ms', cell: ({ durationMs }) => asText(durationMs ?? '') },
  { title: 'created', cell: ({ createdAt }) => asText(createdAt) },
  { title: 'error', cell: ({ errorMessage }) => asText(errorMessage ?? ''), isFlexible: true },
];

/** `executions`: what has run. */
export function addExecutionsCommand(program: Command, start: Start): void {
  const group = addGroup(program, 'executions', 'see what has run');
  const list = group
    .command('list', { isDefault: true })
    .description('list executions, newest first')
    .option('--skill <name>', 'only of this skill')
    .addOption(new Option('--status <status>', 'only of this status').choices(EXECUTION_STATUSES))
    .option('--from <time>', 'since, such as 2026-11-30T08:00:00Z')
    .option('--to <time>', 'until')
    .option('--owner <id>', 'only of the API key of this id');
  addPageOptions(list).action(({ owner: apiKeyId, ...query }, command: Command) =>
    start(command, async (session) => {
      const answer = await session.gateway.call('/api/skills/executions', { query: { ...query, apiKeyId } });
      await session.printList(answer, COLUMNS, 'no executions');
    }),
  );
  group
    .command('get')
    .description('show one execution with its input and output')
    .argument('<id>', 'its id')
    .action((id: string, _options, command: Command) =>
      start(command, async (session) => {
        const execution = await session.gateway.call(pathTo('/api/skills/executions', id));
        await session.print(execution, () => renderFields(execution));
      }),
    );
}
