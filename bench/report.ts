import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import type { Format } from './requests.ts';

/** One line of the result. Times are milliseconds; medians where nothing else is said. */
export interface Row {
  case: string;
  /** The wire format, where requests of one are measured. */
  format?: Format;
  /** Skills that the key owns, and how many of them are always offered. */
  skills?: string;
  /** Skills that the requests carried. */
  injected?: number;
  direct?: number;
  proxy?: number;
  product?: number;
  'product p90'?: number;
  /** Product less proxy. */
  added?: number;
  /** Product by proxy. */
  ratio?: number;
  /** For what is no comparison. */
  value?: string;
  target?: string;
  met?: 'yes' | 'no';
}

const COLUMNS = [
  'case',
  'format',
  'skills',
  'injected',
  'direct',
  'proxy',
  'product',
  'product p90',
  'added',
  'ratio',
  'value',
  'target',
  'met',
] as const;

const cell = (value: string | number | undefined): string =>
  typeof value !== 'number' ? (value ?? '') : Number.isInteger(value) ? String(value) : value.toFixed(3);

/** The rows as a Markdown table whose columns line up. */
export const formatTable = (rows: readonly Row[]): string => formatColumns(COLUMNS, rows);

/** These fields of the rows as a Markdown table whose columns line up. */
export function formatColumns<Column extends string>(
  columns: readonly Column[],
  rows: readonly { [Name in Column]?: string | number | undefined }[],
): string {
  const lines: (readonly string[])[] = [columns, ...rows.map((row) => columns.map((column) => cell(row[column])))];
  const widths = columns.map((_, position) => Math.max(...lines.map((line) => (line[position] ?? '').length)));
  const draw = (line: readonly string[]) => `| ${line.map((text, position) => text.padEnd(widths[position] ?? 0)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  const [head, ...body] = lines.map(draw);
  return [head, rule, ...body].join('\n');
}

export function writeReport(path: string, rows: readonly object[], options: object): void {
  mkdirSync(dirname(path), { recursive: true });
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version };
  writeFileSync(path, `${JSON.stringify({ time: new Date().toISOString(), machine, options, rows }, null, 2)}\n`);
}
