import type { Command } from 'commander';
import { asText, isJsonObject, type JsonObject, type JsonValue } from '../../src/json.ts';
import { cleanLine, cleanText } from '../clean-text.ts';
import type { Start } from '../define-command.ts';
import { readExecutionEvents } from '../execution-events.ts';
import { CommandError, EXIT_CODE } from '../exit-code.ts';
import { readBody } from '../gateway.ts';
import { readInput } from '../read-input.ts';
import { parseJsonObject, readSource } from '../read-source.ts';
import { renderValue } from '../render-fields.ts';
import type { Session } from '../session.ts';
import { type Output, write } from '../terminal.ts';

/** The longest that a skill may be given, with its retries, and a wait for a place in the sandbox. */
const EXECUTION_TIMEOUT_MS = 60 * 60_000;

interface ExecuteOptions {
  input?: string;
  session?: string;
  idempotencyKey?: string;
}

/** What a program prints goes on as it is to other programs, and to a terminal without what steers it. */
const relay = (output: Output, text: string): Promise<void> => write(output, output.isTTY === true ? cleanText(text) : text);

const noExecution = (): CommandError =>
  new CommandError(EXIT_CODE.unreachable, 'The connection ended before the execution did: see omniroute-edge executions', {
    code: 'broken_off',
  });

/** Shows output as it comes. The execution, and whether any output has been shown. */
async function followExecution({ terminal, isJson }: Session, body: ReadableStream<Uint8Array>) {
  let hasShown = false;
  for await (const event of readExecutionEvents(body)) {
    switch (event.type) {
      case 'output':
        hasShown = true;
        if (!isJson) await relay(terminal[event.stream], event.text);
        break;
      case 'execution':
        return { execution: event.execution, hasShown };
      case 'error':
        throw new CommandError(EXIT_CODE.failed, event.message, { code: event.code });
    }
  }
  throw noExecution();
}

async function takeExecution(session: Session, response: Response) {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream && response.body) return followExecution(session, response.body as ReadableStream<Uint8Array>);
  const text = await readBody(response);
  // A reply that took long has been begun with white space, which is all of it when it breaks off.
  if (text.trim() === '') throw noExecution();
  const { execution } = parseJsonObject(text, 'What the gateway answered');
  if (!isJsonObject(execution)) throw noExecution();
  return { execution, hasShown: false };
}

/** What the skill has made: the streams of a program as such, else JSON. */
async function showOutput({ terminal }: Session, output: JsonValue): Promise<void> {
  if (isJsonObject(output) && typeof output.stdout === 'string' && typeof output.stderr === 'string') {
    await relay(terminal.stdout, output.stdout);
    return relay(terminal.stderr, output.stderr);
  }
  if (output !== null) await write(terminal.stdout, `${renderValue(output)}\n`);
}

/** Why the execution is no success; undefined when it is one. */
function failureOf({ status, errorMessage, output }: JsonObject): string | undefined {
  if (status !== 'success') return asText(errorMessage ?? '') || asText(status);
  if (!isJsonObject(output) || output.success !== false) return undefined;
  if (output.timedOut === true) return 'the program took too long and was ended';
  if (output.oomKilled === true) return 'the program needed more memory than it may have';
  return typeof output.exitCode === 'number'
    ? `the program ended with the exit code ${output.exitCode}`
    : asText(output.error ?? '') || 'it failed';
}

async function execute(session: Session, skillName: string, fields: readonly string[], options: ExecuteOptions): Promise<void> {
  const { gateway, terminal, isJson } = session;
  const input = await readInput(options.input, fields, (file) => readSource(file, terminal.stdin));
  const request = {
    method: 'POST' as const,
    body: { skillName, input, ...(options.session !== undefined && { sessionId: options.session }) },
    headers: {
      accept: isJson ? 'application/json' : 'text/event-stream, application/json;q=0.9',
      ...(options.idempotencyKey !== undefined && { 'idempotency-key': options.idempotencyKey }),
    },
    timeoutMs: EXECUTION_TIMEOUT_MS,
  };
  const { execution, hasShown } = await gateway.read('/api/skills/executions', request, (response) => takeExecution(session, response));
  if (isJson) await session.print({ execution }, () => '');
  else if (!hasShown) await showOutput(session, execution.output ?? null);
  const title = cleanLine(`${asText(execution.skillName)}@${asText(execution.skillVersion)}`);
  const failure = failureOf(execution);
  if (failure === undefined) return session.remark(`${title} ran in ${asText(execution.durationMs)} ms, execution ${asText(execution.id)}`);
  const code = execution.status === 'timeout' ? 'execution_timeout' : 'execution_failed';
  throw new CommandError(EXIT_CODE.failed, `${title}: ${failure} (execution ${asText(execution.id)})`, { code });
}

/** `execute`: runs a skill. */
export function addExecuteCommand(program: Command, start: Start): void {
  program
    .command('execute')
    .description('run a skill and print its output as it comes')
    .argument('<skill>', 'its name, name@version or name@constraint')
    .argument('[fields...]', 'of the input: name=text, name:=json, name=@file, name:=@file')
    .option('-i, --input <json>', 'the input as a JSON object, @file, or - for standard input; fields are put on top of it')
    .option('--session <id>', 'kept with the execution')
    .option('--idempotency-key <key>', 'a repeat within 24 hours gets what ran before and runs nothing')
    .addHelpText(
      'after',
      `
Examples:
  omniroute-edge execute eval_code language=python code=@report.py
  omniroute-edge execute http_request@^1 url=https://example.com timeoutMs:=2000
  echo '{"path":"notes.txt"}' | omniroute-edge execute file_read --input - --json

Ctrl-C ends the execution. Its output is what the program printed, or JSON; how it ended stands on stderr.`,
    )
    .action((skill: string, fields: string[], options: ExecuteOptions, command: Command) =>
      start(command, (session) => execute(session, skill, fields, options)),
    );
}
