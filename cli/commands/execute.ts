import type { Command } from 'commander';
import { asText, isJsonObject, type JsonObject, type JsonValue } from '../../src/json.ts';
import { cleanLine, cleanText } from '../clean-text.ts';
import type { Start } from '../define-command.ts';
import { readExecutionEvents } from '../execution-events.ts';
import { CommandError, EXIT_CODE } from '../exit-code.ts';
import { notAGateway, parseObject, readBody } from '../gateway.ts';
import { readInput } from '../read-input.ts';
import { readSource } from '../read-source.ts';
import { renderValue } from '../render-fields.ts';
import type { Session } from '../session.ts';
import { type Terminal, write } from '../terminal.ts';

/** The longest that a skill may be given, with its retries, and a wait for a place in the sandbox. */
const EXECUTION_TIMEOUT_MS = 60 * 60_000;

interface ExecuteOptions {
  input?: string;
  session?: string;
  idempotencyKey?: string;
}

/** Passes on what a program prints: to other programs as it is, to a terminal without what would steer it. */
class OutputRelay {
  readonly #terminal: Terminal;
  #isMidLine = false;
  hasShown = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  async show(stream: 'stdout' | 'stderr', text: string): Promise<void> {
    if (text === '') return;
    const output = this.#terminal[stream];
    this.hasShown = true;
    this.#isMidLine = output.isTTY === true && !text.endsWith('\n');
    await write(output, output.isTTY === true ? cleanText(text) : text);
  }

  /** In a terminal what is said next begins on a line of its own. */
  async end(): Promise<void> {
    if (this.#isMidLine) await write(this.#terminal.stderr, '\n');
    this.#isMidLine = false;
  }
}

const noExecution = (): CommandError =>
  new CommandError(EXIT_CODE.unreachable, 'The connection ended before the execution did: see omniroute-edge executions', {
    code: 'broken_off',
  });

/** The execution, once it has ended; until then output is shown as it comes. */
async function followExecution(body: ReadableStream<Uint8Array>, relay: OutputRelay): Promise<JsonObject> {
  for await (const event of readExecutionEvents(body)) {
    switch (event.type) {
      case 'output':
        await relay.show(event.stream, event.text);
        break;
      case 'execution':
        return event.execution;
      case 'error':
        throw new CommandError(EXIT_CODE.failed, event.message, { code: event.code });
    }
  }
  throw noExecution();
}

async function takeExecution(response: Response, relay: OutputRelay, url: string): Promise<JsonObject> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream && response.body) return followExecution(response.body as ReadableStream<Uint8Array>, relay);
  const text = await readBody(response);
  const execution = parseObject(text)?.execution;
  if (isJsonObject(execution)) return execution;
  // A reply that took long has been begun with white space, which is all of it when it breaks off.
  throw text.trim() === '' ? noExecution() : notAGateway(url, response);
}

/** What the skill has made: the streams of a program as such, else JSON. */
async function showOutput({ terminal }: Session, output: JsonValue, relay: OutputRelay): Promise<void> {
  if (isJsonObject(output) && typeof output.stdout === 'string' && typeof output.stderr === 'string') {
    await relay.show('stdout', output.stdout);
    return relay.show('stderr', output.stderr);
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
  const relay = new OutputRelay(terminal);
  const execution = await gateway.read('/api/skills/executions', request, (response) => takeExecution(response, relay, gateway.url));
  if (isJson) await session.print({ execution }, () => '');
  else if (!relay.hasShown) await showOutput(session, execution.output ?? null, relay);
  await relay.end();
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
