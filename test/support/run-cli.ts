import { PassThrough, Readable } from 'node:stream';
import { runCommand } from '../../cli/run-command.ts';
import type { Output } from '../../cli/terminal.ts';
import type { JsonObject } from '../../src/json.ts';
import type { TestApp } from './app.ts';

export const CLI_URL = 'http://gateway.example';

export interface CliOptions {
  /** Answers the command's requests; without one nothing answers. */
  fetch?: typeof fetch;
  token?: string;
  env?: Record<string, string>;
  stdin?: string | Readable;
  /** Makes standard output a terminal of so many columns. */
  columns?: number;
  signal?: AbortSignal;
}

export interface CliResult {
  code: number;
  stdout: string;
  stderr: string;
  /** Standard output, which has to be one JSON document. */
  json(): JsonObject;
}

function collect(columns?: number): { output: Output; text(): string } {
  const chunks: Buffer[] = [];
  const output = new PassThrough() as Output & PassThrough;
  output.on('data', (chunk: Buffer) => chunks.push(chunk));
  if (columns !== undefined) Object.assign(output, { isTTY: true, columns });
  return { output, text: () => Buffer.concat(chunks).toString() };
}

const refuse: typeof fetch = async () => {
  throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
};

/** The gateway of a test, as a command reaches it. */
export const fetchFrom =
  ({ request }: TestApp): typeof fetch =>
  async (input, init = {}) => {
    const url = new URL(String(input));
    if (url.origin !== CLI_URL) throw new Error(`asked ${url.origin}`);
    return request(url.pathname + url.search, {
      as: null,
      ...(init.method && { method: init.method }),
      headers: init.headers as Record<string, string>,
      ...(typeof init.body === 'string' && { body: init.body }),
      ...(init.signal && { signal: init.signal }),
    });
  };

/** Runs the command line in this process. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const { fetch = refuse, token, env = {}, stdin = '', columns, signal = new AbortController().signal } = options;
  const [stdout, stderr] = [collect(columns), collect(columns)];
  const code = await runCommand(args, {
    env: { OMNIROUTE_URL: CLI_URL, ...(token !== undefined && { OMNIROUTE_TOKEN: token }), ...env },
    stdin: typeof stdin === 'string' ? Readable.from([stdin]) : stdin,
    stdout: stdout.output,
    stderr: stderr.output,
    fetch,
    signal,
  });
  return { code, stdout: stdout.text(), stderr: stderr.text(), json: () => JSON.parse(stdout.text()) as JsonObject };
}
