import type { Command } from 'commander';
import { isJsonObject, type JsonObject, type JsonValue } from '../src/json.ts';
import { readConnection } from './connection.ts';
import { CommandError, EXIT_CODE } from './exit-code.ts';
import { createGateway, type Gateway } from './gateway.ts';
import { type Column, renderTable } from './render-table.ts';
import { type Terminal, write } from './terminal.ts';

/** One run of a command: the gateway it speaks to, and where it says what it found. */
export interface Session {
  readonly gateway: Gateway;
  readonly terminal: Terminal;
  readonly isJson: boolean;
  /** Prints a value as JSON when that was asked for, else what `describe` makes of it. */
  print(value: JsonValue, describe: () => string): Promise<void>;
  /** One page of a list: as JSON the gateway's own answer, else a table, and on stderr what there is besides it. */
  printList(answer: JsonObject, columns: readonly Column[], nothing: string): Promise<void>;
  /** A remark for a person, on stderr. */
  remark(text: string): Promise<void>;
}

const toJson = (value: JsonValue): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** The items of a list. Throws when the answer is none. */
export function itemsOf({ data }: JsonObject): JsonObject[] {
  if (Array.isArray(data) && data.every(isJsonObject)) return data;
  throw new CommandError(EXIT_CODE.unreachable, 'The gateway sent a list that cannot be read', { code: 'not_a_gateway' });
}

/** What the program's own options say, wherever they stand on the command line. */
interface ProgramOptions {
  url?: string;
  token?: string;
  json?: boolean;
}

export function openSession(command: Command, terminal: Terminal): Session {
  const { json: isJson = false, ...flags } = command.optsWithGlobals<ProgramOptions>();
  const { stdout, stderr } = terminal;
  const remark = (text: string) => (isJson ? Promise.resolve() : write(stderr, `${text}\n`));
  return {
    gateway: createGateway(readConnection(flags, terminal.env), terminal.fetch, terminal.signal),
    terminal,
    isJson,
    remark,
    print: (value, describe) => write(stdout, isJson ? toJson(value) : describe()),
    async printList(answer, columns, nothing) {
      const items = itemsOf(answer);
      if (isJson) return write(stdout, toJson(answer));
      if (items.length === 0) return remark(nothing);
      await write(stdout, renderTable(columns, items, terminal));
      const { page, totalPages, total } = answer;
      if (typeof totalPages === 'number' && totalPages > 1)
        await remark(`page ${page} of ${totalPages}, ${total} in all; see --page and --limit`);
    },
  };
}
