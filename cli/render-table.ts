import stringWidth from 'string-width';
import { asText, type JsonObject } from '../src/json.ts';
import { cleanLine } from './clean-text.ts';
import { paint, type Terminal } from './terminal.ts';

export interface Column {
  title: string;
  /** What stands in a cell; the item's member of the title's name by default. */
  cell?: (item: JsonObject) => string;
  /** Cut when the terminal is too narrow for it. */
  isFlexible?: boolean;
}

const GAP = '  ';
/** Narrower than this a column that is cut says nothing. */
const LEAST_WIDTH = 16;

const pad = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - stringWidth(text)));

/** The beginning of a line, as much as has room beside the mark of what is missing. */
export function cutLine(line: string, width: number): string {
  if (stringWidth(line) <= width) return line;
  let cut = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    used += stringWidth(segment);
    if (used > width - 1) break;
    cut += segment;
  }
  return `${cut}…`;
}

/**
 * A table for people. Where it goes to a terminal it fits the width: flexible columns are cut, and where even that is too little each item
 * becomes a block of lines. Elsewhere nothing is cut, so that programs such as grep see all of it.
 */
export function renderTable(columns: readonly Column[], items: readonly JsonObject[], terminal: Terminal): string {
  const { stdout } = terminal;
  const titleOf = ({ title }: Column): string => title.toUpperCase();
  const rows = items.map((item) => columns.map(({ title, cell }) => cleanLine(cell ? cell(item) : asText(item[title])) || '-'));
  const widths = columns.map((column, index) =>
    rows.reduce((width, row) => Math.max(width, stringWidth(row[index] ?? '')), stringWidth(titleOf(column))),
  );
  const total = () => widths.reduce((sum, width) => sum + width, 0) + GAP.length * (columns.length - 1);
  const room = stdout.isTTY === true ? (stdout.columns ?? 80) : Number.POSITIVE_INFINITY;
  for (const [index, { isFlexible }] of columns.entries()) {
    const width = widths[index] ?? 0;
    if (isFlexible) widths[index] = Math.max(Math.min(width, LEAST_WIDTH), width - Math.max(0, total() - room));
  }
  if (total() > room) return renderBlocks(columns.map(titleOf), rows, terminal);
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => pad(cutLine(cell, widths[index] ?? 0), widths[index] ?? 0))
      .join(GAP)
      .trimEnd();
  return `${[paint(terminal, stdout, 'bold', line(columns.map(titleOf))), ...rows.map(line)].join('\n')}\n`;
}

/** Each row as lines of a title and its value. */
function renderBlocks(titles: readonly string[], rows: readonly (readonly string[])[], terminal: Terminal): string {
  const width = Math.max(...titles.map((title) => title.length));
  const line = (title: string, index: number, row: readonly string[]): string =>
    `${paint(terminal, terminal.stdout, 'bold', pad(title, width))}${GAP}${row[index]}`;
  return `${rows.map((row) => titles.map((title, index) => line(title, index, row)).join('\n')).join('\n\n')}\n`;
}
