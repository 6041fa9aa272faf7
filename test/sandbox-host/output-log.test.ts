import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OutputLog, type OutputReader } from '../../sandbox-host/output-log.ts';
import { MAX_EVENT_CHARS, OUTPUT_STREAMS } from '../../src/contract/runs.ts';

function drain(reader: OutputReader, mayCutLine = false): [string, string][] {
  const pieces: [string, string][] = [];
  for (let piece = reader.next(mayCutLine); piece; piece = reader.next(mayCutLine)) pieces.push([piece.type, piece.text]);
  return pieces;
}

describe('OutputLog', () => {
  it('gives whole lines, and the beginning of one when it may be cut', () => {
    const log = new OutputLog();
    const reader = log.read();
    expect([reader.hasMore, reader.next(true)]).toEqual([false, undefined]);
    log.append('stdout', 'one\ntwo\nthr');
    expect(drain(reader)).toEqual([['stdout', 'one\ntwo\n']]);
    expect([reader.hasMore, reader.next(false)]).toEqual([true, undefined]);
    log.append('stdout', 'ee\nfo');
    expect(drain(reader)).toEqual([['stdout', 'three\n']]);
    expect(drain(reader, true)).toEqual([['stdout', 'fo']]);
    expect(reader.hasMore).toBe(false);
    log.append('stdout', 'ur\n');
    expect(drain(reader)).toEqual([['stdout', 'ur\n']]);
  });

  it('keeps the order in which the streams came', () => {
    const log = new OutputLog();
    log.append('stderr', 'first\n');
    log.append('stdout', 'second\n');
    log.append('stdout', 'cut ');
    log.append('stderr', 'off\n');
    log.append('stdout', 'here\n');
    log.append('stderr', '');
    expect(drain(log.read())).toEqual([
      ['stderr', 'first\n'],
      ['stdout', 'second\n'],
      ['stdout', 'cut '],
      ['stderr', 'off\n'],
      ['stdout', 'here\n'],
    ]);
  });

  it('cuts a long line, never within a character', () => {
    const log = new OutputLog();
    const text = `x${'😀'.repeat(MAX_EVENT_CHARS)}`;
    log.append('stdout', text);
    const pieces = drain(log.read(), true);
    expect(pieces.map(([, piece]) => piece).join('')).toBe(text);
    expect(pieces.map(([, { length }]) => length)).toEqual([MAX_EVENT_CHARS - 1, MAX_EVENT_CHARS, 2]);
    for (const [, piece] of pieces) expect(piece.isWellFormed()).toBe(true);
    const waiting = log.read();
    expect(drain(waiting).map(([, { length }]) => length)).toEqual([MAX_EVENT_CHARS - 1, MAX_EVENT_CHARS]);
  });

  it('tells watchers, until they stop watching', () => {
    const log = new OutputLog();
    let told = 0;
    const unwatch = log.watch(() => {
      told += 1;
    });
    log.append('stdout', 'a');
    log.append('stdout', '');
    log.append('stderr', 'b');
    unwatch();
    log.append('stdout', 'c');
    expect(told).toBe(2);
  });

  it('gives every reader the same texts, whenever it reads', () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', '\n', 'é', '😀'), maxLength: 30 }),
      fc.constant('y'.repeat(3_000)),
      fc.constant(`${'z'.repeat(5_000)}\n`),
    );
    const step = fc.record({ stream: fc.constantFrom(...OUTPUT_STREAMS), text, reads: fc.boolean(), mayCutLine: fc.boolean() });
    const check = (steps: { stream: 'stdout' | 'stderr'; text: string; reads: boolean; mayCutLine: boolean }[]) => {
      const log = new OutputLog();
      const early = log.read();
      const pieces: [string, string][] = [];
      for (const { stream, text, reads, mayCutLine } of steps) {
        log.append(stream, text);
        if (reads) pieces.push(...drain(early, mayCutLine));
      }
      pieces.push(...drain(early, true));
      const late = drain(log.read(), true);
      for (const name of OUTPUT_STREAMS) {
        const written = steps.flatMap(({ stream, text }) => (stream === name ? text : [])).join('');
        for (const read of [pieces, late]) expect(read.flatMap(([type, piece]) => (type === name ? piece : [])).join('')).toBe(written);
      }
      for (const [, { length }] of [...pieces, ...late]) expect(length).toBeLessThanOrEqual(MAX_EVENT_CHARS);
    };
    fc.assert(fc.property(fc.array(step, { maxLength: 40 }), check));
  });
});
