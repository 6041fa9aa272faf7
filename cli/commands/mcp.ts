import type { Command } from 'commander';
import { cleanText } from '../clean-text.ts';
import type { Start } from '../define-command.ts';
import { write } from '../terminal.ts';

/** `mcp`: for clients of MCP that start their servers as programs. */
export function addMcpCommand(program: Command, start: Start): void {
  program
    .command('mcp')
    .description('be an MCP server on standard input and output that speaks for the gateway')
    .addHelpText(
      'after',
      `
In a client's configuration:
  {"mcpServers": {"omniroute-edge": {"command": "npx", "args": ["omniroute-edge", "mcp"],
    "env": {"OMNIROUTE_URL": "https://gateway.example.com", "OMNIROUTE_TOKEN": "omr_..."}}}}`,
    )
    .action((_options, command: Command) =>
      start(command, async ({ gateway, terminal }) => {
        // Loaded here alone: it is larger than all the rest.
        const { bridgeMcp } = await import('../mcp-bridge.ts');
        await bridgeMcp(gateway, terminal, (text) => write(terminal.stderr, `${cleanText(text)}\n`).catch(() => {}));
      }),
    );
}
