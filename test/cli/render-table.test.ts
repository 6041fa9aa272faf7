import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { cutLine, renderTable } from '../../cli/render-table.ts';
import type { Output, Terminal } from '../../cli/terminal.ts';

const terminal = (columns?: number, env: Record<string, string> = { NO_COLOR: '1' }): Terminal => {
  const output = Object.assign(new PassThrough(), columns === undefined ? {} : { isTTY: true, columns }) as Output;
  return { env, stdin: Readable.from([]), stdout: output, stderr: output, fetch, signal: new AbortController().signal };
};
const columns = [{ title: 'id' }, { title: 'text', isFlexible: true }];
const items = [
  { id: 'a-1', text: 'a long text that goes on' },
  { id: 'b', text: '日本語のテキストです' },
];

describe('renderTable', () => {
  it('cuts nothing for programs', () => {
    expect(renderTable(columns, items, terminal())).toBe('ID   TEXT\na-1  a long text that goes on\nb    日本語のテキストです\n');
  });

  it('cuts flexible columns to the width, by what characters take', () => {
    expect(renderTable(columns, items, terminal(22))).toBe('ID   TEXT\na-1  a long text that…\nb    日本語のテキスト…\n');
  });

  it('becomes blocks where there is no room for columns', () => {
    expect(renderTable(columns, items, terminal(12))).toBe(
      'ID    a-1\nTEXT  a long text that goes on\n\nID    b\nTEXT  日本語のテキストです\n',
    );
  });

  it('puts each item on one line, with a mark where there is nothing', () => {
    expect(renderTable(columns, [{ id: '1', text: 'two\n  lines\ttab' }, { id: '2', text: '' }, { id: '3' } as never], terminal())).toBe(
      'ID  TEXT\n1   two lines tab\n2   -\n3   -\n',
    );
  });

  it('is coloured in a terminal that has colours', () => {
    expect(renderTable(columns, [], terminal(80, { TERM: 'xterm' }))).toBe('\u001b[1mID  TEXT\u001b[22m\n');
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) expect(renderTable(columns, [], terminal(80, env))).toBe('ID  TEXT\n');
  });
});

it.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['👩‍👩‍👧‍👧👩‍👩‍👧‍👧', 3, '👩‍👩‍👧‍👧…'],
  ['日本', 3, '日…'],
])('cuts %s to %i', (line, width, cut) => {
  expect(cutLine(line, width)).toBe(cut);
});
