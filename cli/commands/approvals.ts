import { type Command, Option } from 'commander';
import { APPROVAL_STATUSES } from '../../src/execution/approval.ts';
import { asText, isJsonObject } from '../../src/json.ts';
import { cleanLine } from '../clean-text.ts';
import { addGroup, addPageOptions, type Start } from '../define-command.ts';
import { pathTo } from '../gateway.ts';
import type { Column } from '../render-table.ts';

const COLUMNS: Column[] = [
  { title: 'id' },
  { title: 'status' },
  { title: 'skill', cell: ({ skillName, skillVersion }) => `${asText(skillName)}@${asText(skillVersion)}` },
  { title: 'expires', cell: ({ expiresAt }) => asText(expiresAt) },
  { title: 'input', cell: ({ input }) => JSON.stringify(input), isFlexible: true },
];

/** `approvals`: calls that wait for a person. */
export function addApprovalsCommand(program: Command, start: Start): void {
  const group = addGroup(program, 'approvals', 'decide about calls that wait for a person');
  const list = group
    .command('list', { isDefault: true })
    .description('list approvals, newest first')
    .addOption(new Option('--status <status>', 'only of this status').choices(APPROVAL_STATUSES));
  addPageOptions(list).action(({ status, page, limit }, command: Command) =>
    start(command, async (session) => {
      const answer = await session.gateway.call('/api/skills/approvals', { query: { status, page, limit } });
      await session.printList(answer, COLUMNS, 'no approvals');
    }),
  );
  for (const [decision, summary] of [
    ['approve', 'let the next identical call run, once'],
    ['deny', 'have the model told that the user declined'],
  ] as const) {
    group
      .command(decision)
      .description(summary)
      .argument('<approval>', 'its id')
      .action((id: string, _options, command: Command) =>
        start(command, async (session) => {
          const answer = await session.gateway.call(`${pathTo('/api/skills/approvals', id)}/${decision}`, { method: 'POST' });
          const approval = isJsonObject(answer.approval) ? answer.approval : {};
          const { skillName, skillVersion, status } = approval;
          await session.print(answer, () => `${cleanLine(`${asText(skillName)}@${asText(skillVersion)}`)} is ${asText(status)}\n`);
        }),
      );
  }
}
