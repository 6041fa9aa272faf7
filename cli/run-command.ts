import { CommanderError } from 'commander';
import { cleanText } from './clean-text.ts';
import { createProgram } from './create-program.ts';
import { CommandError, EXIT_CODE, messageOf } from './exit-code.ts';
import { openSession } from './session.ts';
import { OutputClosed, type Terminal, write } from './terminal.ts';

const HELP_WIDTH = 80;

interface Failure {
  exitCode: number;
  message: string;
  code: string;
  details?: unknown;
  hint?: string;
}

/** What is wrong with a line that commander does not understand; undefined when help or the version was asked for. */
function usageFailure({ code, exitCode, message }: CommanderError): Failure | undefined {
  if (exitCode === 0) return undefined;
  if (code === 'commander.help') return { exitCode: EXIT_CODE.usage, message: 'Say which command', code: 'usage' };
  return { exitCode: EXIT_CODE.usage, message: message.replace(/^error: /, ''), code: 'usage', hint: 'See --help' };
}

function failureOf(error: unknown): Failure | undefined {
  if (error instanceof CommanderError) return usageFailure(error);
  if (error instanceof CommandError) return { exitCode: error.exitCode, message: error.message, ...error.reason };
  return { exitCode: EXIT_CODE.failed, message: `Unexpected: ${messageOf(error)}`, code: 'unexpected' };
}

/** For a program the same shape as the gateway's errors. */
function describe({ message, code, details, hint }: Failure, isJson: boolean): string {
  if (isJson) return `${JSON.stringify({ error: message, code, ...(details !== undefined && { details }) })}\n`;
  const [first = '', ...further] = cleanText(message).split('\n');
  // Every wrong usage has the same code, which tells a person nothing.
  const title = code === 'usage' ? first : `${first} (${code})`;
  return `${['error: '.concat(title), ...further, ...(hint === undefined ? [] : [hint])].join('\n')}\n`;
}

/** Runs one command line. Resolves to its exit code and never rejects. */
export async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const { stdout, stderr, signal } = terminal;
  const isJson = args.includes('--json');
  const help: string[] = [];
  const width = stdout.isTTY === true ? (stdout.columns ?? HELP_WIDTH) : HELP_WIDTH;
  const program = createProgram(
    (text) => help.push(text),
    width,
    (command, work) => work(openSession(command, terminal)),
  );
  try {
    await program.parseAsync(args, { from: 'user' });
    return EXIT_CODE.ok;
  } catch (error) {
    if (error instanceof OutputClosed || signal.reason instanceof OutputClosed) return EXIT_CODE.ok;
    if (signal.aborted) return EXIT_CODE.interrupted;
    const failure = failureOf(error);
    try {
      await write(failure === undefined ? stdout : stderr, help.join(''));
      if (failure !== undefined) await write(stderr, describe(failure, isJson));
    } catch {
      // Nobody reads it.
    }
    return failure?.exitCode ?? EXIT_CODE.ok;
  }
}
