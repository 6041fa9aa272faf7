import { Command } from 'commander';
import { VERSION } from '../src/version.ts';
import { addApprovalsCommand } from './commands/approvals.ts';
import { addCompletionCommands } from './commands/completion.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addExecuteCommand } from './commands/execute.ts';
import { addExecutionsCommand } from './commands/executions.ts';
import { addKeysCommand } from './commands/keys.ts';
import { addMarketplaceCommand } from './commands/marketplace.ts';
import { addMcpCommand } from './commands/mcp.ts';
import { addSkillsCommand } from './commands/skills.ts';
import { DEFAULT_URL } from './connection.ts';
import type { Start } from './define-command.ts';

const SHOWN = `
Environment:
  OMNIROUTE_URL    the gateway's address
  OMNIROUTE_TOKEN  the management token, or an API key

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no gateway there, 4 not authorized`;

/** The command line as a tree of commands. Throws a CommanderError where others would end the process; help goes to `printHelp`. */
export function createProgram(printHelp: (text: string) => void, width: number, start: Start): Command {
  const program = new Command('omniroute-edge')
    .exitOverride()
    .configureOutput({
      writeOut: printHelp,
      writeErr: printHelp,
      // Told by whoever catches the error.
      outputError: () => {},
      getOutHelpWidth: () => width,
      getErrHelpWidth: () => width,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp({ showGlobalOptions: true, subcommandTerm: (command) => command.name() })
    .helpCommand(false)
    .description('The command line of OmniRoute Edge, an LLM gateway that gives models skills')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .option('--url <url>', `the gateway's address, else OMNIROUTE_URL, else ${DEFAULT_URL}`)
    .option('--token <token>', 'the management token or an API key, else OMNIROUTE_TOKEN, which other users of the machine cannot see')
    .option('--json', 'print one JSON document, and errors as JSON on stderr');
  addSkillsCommand(program, start);
  addMarketplaceCommand(program, start);
  addExecuteCommand(program, start);
  addExecutionsCommand(program, start);
  addApprovalsCommand(program, start);
  addKeysCommand(program, start);
  addMcpCommand(program, start);
  addDoctorCommand(program, start);
  addCompletionCommands(program, start);
  return program.addHelpText('after', SHOWN);
}
