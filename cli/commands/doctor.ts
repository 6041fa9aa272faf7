import type { Command } from 'commander';
import { cleanLine } from '../clean-text.ts';
import type { Start } from '../define-command.ts';
import type { Check, CheckStatus } from '../doctor/check.ts';
import { diagnose } from '../doctor/diagnose.ts';
import { observe } from '../doctor/observe.ts';
import { CommandError, EXIT_CODE } from '../exit-code.ts';
import { paint, type Terminal } from '../terminal.ts';

const COLOURS: Record<CheckStatus, 'green' | 'yellow' | 'red'> = { ok: 'green', warning: 'yellow', failed: 'red' };
const STATUS_WIDTH = 7;
const NAME_WIDTH = 11;

function describe({ name, status, message, todo }: Check, terminal: Terminal): string {
  const line = `${paint(terminal, terminal.stdout, COLOURS[status], status.padEnd(STATUS_WIDTH))}  ${name.padEnd(NAME_WIDTH)}  ${cleanLine(message)}\n`;
  return todo === undefined ? line : `${line}${' '.repeat(STATUS_WIDTH + NAME_WIDTH + 4)}-> ${todo}\n`;
}

/** `doctor`: what is wrong, and what to do. */
export function addDoctorCommand(program: Command, start: Start): void {
  program
    .command('doctor')
    .description('check the gateway, its database, sandbox, providers and settings, and say what to do')
    .action((_options, command: Command) =>
      start(command, async (session) => {
        const observations = await observe(session.gateway);
        const checks = diagnose(observations);
        const failures = checks.filter(({ status }) => status === 'failed').map(({ name }) => name);
        await session.print({ ok: failures.length === 0, checks: checks.map((check) => ({ ...check })) }, () =>
          checks.map((check) => describe(check, session.terminal)).join(''),
        );
        if (failures.length > 0) throw new CommandError(EXIT_CODE.failed, `failed: ${failures.join(', ')}`, { code: 'unhealthy' });
      }),
    );
}
