import { type Command, Option } from 'commander';
import { asArray, asText } from '../../src/json.ts';
import { SCOPES } from '../choices.ts';
import { addGroup, addPageOptions, type Start } from '../define-command.ts';
import { pathTo } from '../gateway.ts';
import type { Column } from '../render-table.ts';

const COLUMNS: Column[] = [
  { title: 'id' },
  { title: 'name' },
  { title: 'scopes', cell: ({ scopes }) => asArray(scopes).map(asText).join(', ') },
  { title: 'created', cell: ({ createdAt }) => asText(createdAt) },
];

/** `keys`: who may use the gateway. */
export function addKeysCommand(program: Command, start: Start): void {
  const group = addGroup(program, 'keys', 'make and delete API keys');
  addPageOptions(group.command('list', { isDefault: true }).description('list API keys, oldest first')).action(
    ({ page, limit }, command: Command) =>
      start(command, async (session) => {
        await session.printList(await session.gateway.call('/api/keys', { query: { page, limit } }), COLUMNS, 'no API keys');
      }),
  );
  group
    .command('create')
    .description('make an API key, which is printed this once')
    .argument('<name>', 'what it is for')
    .addOption(new Option('--scope <scopes...>', 'what it may do; default: chat read:skills execute:skills').choices(SCOPES))
    .action((name: string, { scope: scopes }, command: Command) =>
      start(command, async (session) => {
        const made = await session.gateway.call('/api/keys', { method: 'POST', body: { name, ...(scopes && { scopes }) } });
        await session.print(made, () => `${asText(made.key)}\n`);
        await session.remark(`made ${asText(made.id)} for ${asArray(made.scopes).map(asText).join(', ')}; the key is not shown again`);
      }),
    );
  group
    .command('delete')
    .description('delete an API key')
    .argument('<key>', 'its id')
    .action((id: string, _options, command: Command) =>
      start(command, async (session) => {
        const answer = await session.gateway.call(pathTo('/api/keys', id), { method: 'DELETE' });
        await session.print(answer, () => `deleted ${id}\n`);
      }),
    );
}
