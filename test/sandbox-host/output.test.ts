import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameReader } from '../../sandbox-host/frame-reader.ts';
import { MarkerSplitter } from '../../sandbox-host/marker-splitter.ts';
import { OutputText } from '../../sandbox-host/output-text.ts';
import { SupervisorReader } from '../../sandbox-host/supervisor-reader.ts';
import type { OutputStream } from '../../src/contract/runs.ts';

/** Cuts bytes at the given places. */
const cut = (bytes: Buffer, places: readonly number[]): Buffer[] => {
  const borders = [0, ...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return borders.slice(1).map((end, index) => bytes.subarray(borders[index], end));
};

const frame = (stream: OutputStream, payload: string | Buffer): Buffer => {
  const bytes = Buffer.from(payload);
  const header = Buffer.from([stream === 'stdout' ? 1 : 2, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
};

describe('OutputText', () => {
  it('decodes the same wherever the bytes are cut', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.array(fc.nat(60)), (bytes, places) => {
        const output = new OutputText(1_000);
        const pieces = cut(Buffer.from(bytes), places).map((piece) => output.push(piece));
        pieces.push(output.end());
        expect(output.text).toBe(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
        expect(pieces.join('')).toBe(output.text);
      }),
    );
  });

  it('cuts at the cap without splitting a surrogate pair, wherever the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 40 }),
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.nat(100)),
        (text, maxChars, places) => {
          const output = new OutputText(maxChars);
          for (const piece of cut(Buffer.from(text), places)) output.push(piece);
          output.end();
          expect(output.text.isWellFormed()).toBe(true);
          expect(output.truncated).toBe(text.length > maxChars);
          expect(text.startsWith(output.text)).toBe(true);
          expect(output.text.length).toBeGreaterThanOrEqual(Math.min(text.length, maxChars - 1));
          expect(output.text.length).toBeLessThanOrEqual(maxChars);
        },
      ),
    );
  });

  it('takes text of just the cap as whole, and nothing after the cut', () => {
    const output = new OutputText(3);
    expect(output.push(Buffer.from('abc'))).toBe('abc');
    expect(output.truncated).toBe(false);
    expect(output.push(Buffer.from('d'))).toBe('');
    expect(output.truncated).toBe(true);
    expect(output.push(Buffer.from('e'))).toBe('');
    expect(output.text).toBe('abc');
  });
});

describe('FrameReader', () => {
  it('takes frames apart wherever they are cut', () => {
    const bytes = Buffer.concat([frame('stdout', 'out'), frame('stderr', ''), frame('stderr', 'err'), frame('stdout', 'x'.repeat(300))]);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length)), (places) => {
        const seen = { stdout: '', stderr: '' };
        const reader = new FrameReader((stream, part) => {
          seen[stream] += part.toString();
        });
        for (const piece of cut(bytes, places)) reader.push(piece);
        expect(seen).toEqual({ stdout: `out${'x'.repeat(300)}`, stderr: 'err' });
      }),
    );
  });
});

describe('MarkerSplitter', () => {
  it('finds markers wherever they are cut', () => {
    const word = fc.stringMatching(/^[AB]{0,6}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), fc.array(fc.nat(40)), (words, places) => {
        const marker = 'ABBAC';
        const parts: string[] = [];
        const splitter = new MarkerSplitter(marker, (bytes, markers) => {
          parts[markers] = (parts[markers] ?? '') + bytes.toString();
        });
        for (const piece of cut(Buffer.from(words.join(marker)), places)) splitter.push(piece);
        splitter.end();
        expect(words.map((_, index) => parts[index] ?? '')).toEqual(words);
      }),
    );
  });

  it('holds back nothing that cannot be a marker', () => {
    const seen: string[] = [];
    const splitter = new MarkerSplitter('<mark>', (bytes) => seen.push(bytes.toString()));
    splitter.push(Buffer.from('line\n'));
    expect(seen).toEqual(['line\n']);
    splitter.push(Buffer.from('a<ma'));
    expect(seen).toEqual(['line\n', 'a']);
    splitter.push(Buffer.from('n'));
    expect(seen).toEqual(['line\n', 'a', '<man']);
  });
});

describe('SupervisorReader', () => {
  const NONCE = 'f00d';
  function read(frames: Buffer[]): string[] {
    const events: string[] = [];
    const reader = new SupervisorReader(NONCE, {
      onStart: (cpuMs) => events.push(cpuMs === undefined ? 'start' : `start ${cpuMs}`),
      onFilesRefused: () => events.push('refused'),
      onOutput: (stream, bytes) => events.push(`${stream} ${bytes}`),
      onEnd: ({ exitCode, oomKilled, ...end }) => events.push(`end ${exitCode} ${oomKilled} ${JSON.stringify(end)}`),
      onArchive: (bytes) => events.push(`archive ${bytes}`),
      onArchiveEnd: (isWhole) => events.push(`archive end ${isWhole}`),
    });
    for (const bytes of frames) reader.push(bytes);
    reader.end();
    return events;
  }

  it('tells the life of a program', () => {
    const frames = [
      frame('stderr', `${NONCE}S12`),
      frame('stderr', '34\n'),
      frame('stdout', 'a'),
      frame('stderr', 'b'),
      frame('stdout', `c${NONCE}tar`),
      frame('stderr', `d${NONCE}137 1 2500 4096\n`),
    ];
    expect(read(frames)).toEqual([
      'start 1.234',
      'stdout a',
      'stderr b',
      'stdout c',
      'archive tar',
      'stderr d',
      'end 137 true {"signal":"SIGKILL","cpuMs":2.5,"maxMemoryBytes":4096}',
    ]);
  });

  it('tells the end when both streams have ended, in either order', () => {
    const start = frame('stderr', `${NONCE}S-1\n`);
    const out = frame('stdout', NONCE);
    const err = frame('stderr', `${NONCE}0 0 -1 -1\n`);
    expect(read([start, out, err])).toEqual(['start', 'end 0 false {}']);
    expect(read([start, err, out])).toEqual(['start', 'end 0 false {}']);
    expect(read([start, out])).toEqual(['start']);
    expect(read([start, err])).toEqual(['start']);
  });

  it.each([
    ['[1]+  Killed                     \n', 137, { signal: 'SIGKILL' }],
    ['[1] + Segmentation fault         (exec "$@")\n', 139, { signal: 'SIGSEGV' }],
    ['[1]+  Done(137)                  \n', 137, {}],
    ['[1] + Done(143)                  (exec "$@") <&3\n', 143, {}],
    // A shell that tells nothing of jobs.
    ['', 134, { signal: 'SIGABRT' }],
    ['', 255, {}],
  ])('tells a signal from an exit code: %j %i', (jobs, exitCode, end) => {
    const frames = [frame('stderr', `${NONCE}S-1\n`), frame('stdout', NONCE), frame('stderr', `${NONCE}${jobs}`)];
    expect(read(frames)).toEqual(['start']);
    expect(read([...frames, frame('stderr', `${exitCode} 0 -1`), frame('stderr', ' -1\n')])).toEqual([
      'start',
      `end ${exitCode} false ${JSON.stringify(end)}`,
    ]);
  });

  it('tells the end of the archive and whether it is whole, once', () => {
    const start = [frame('stderr', `${NONCE}S-1\n`), frame('stdout', `${NONCE}tar${NONCE}`)];
    expect(read(start)).toEqual(['start', 'archive tar']);
    expect(read([...start, frame('stdout', '0\n'), frame('stdout', '0\n')])).toEqual(['start', 'archive tar', 'archive end true']);
    expect(read([...start, frame('stdout', '13'), frame('stdout', '7\n')])).toEqual(['start', 'archive tar', 'archive end false']);
    const empty = [frame('stderr', `${NONCE}S-1\n`), frame('stdout', `${NONCE}${NONCE}E\n`)];
    expect(read(empty)).toEqual(['start', `archive ${'\0'.repeat(1_024)}`, 'archive end true']);
    expect(read([...start, frame('stdout', 'x0\n')])).toEqual(['start', 'archive tar']);
  });

  it('tells of files that were refused', () => {
    expect(read([frame('stderr', `${NONCE}F`)])).toEqual(['refused']);
  });

  it('does not fall for a trailer that is none', () => {
    const start = frame('stderr', `${NONCE}S-1\n`);
    expect(read([start, frame('stdout', NONCE), frame('stderr', `${NONCE}-1 x\n`)])).toEqual(['start']);
    expect(read([start, frame('stdout', NONCE), frame('stderr', `${NONCE}${'9'.repeat(10_000)}`)])).toEqual(['start']);
  });
});
