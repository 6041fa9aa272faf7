import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FileCollector } from '../../sandbox-host/file-collector.ts';
import { packFiles, TAR_BLOCKING_BYTES } from '../../sandbox-host/pack-files.ts';
import { isWorkspacePath, type RunFile } from '../../src/contract/runs.ts';

const file = (path: string, content: string | Buffer): RunFile => ({ path, contentBase64: Buffer.from(content).toString('base64') });

function collect(archive: Buffer, { sent = [] as RunFile[], maxFileBytes = 1_000_000, pieceBytes = archive.length || 1 } = {}) {
  const collector = new FileCollector({ sent, maxFileBytes });
  for (let at = 0; at < archive.length; at += pieceBytes) collector.push(archive.subarray(at, at + pieceBytes));
  return collector;
}

/** A tar entry with any name, type and size, as a program that means harm could send it. */
function rawEntry(name: string, type: string, content: Buffer, size = content.length): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0, 'utf8');
  header.write('0000644\0', 100);
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  header.write(type, 156);
  header.fill(' ', 148, 156);
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  );
  return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}
const END = Buffer.alloc(1_024);

describe('packFiles and FileCollector', () => {
  it('bring any files back as they were, in pieces of any size', () => {
    const segment = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
      .filter((text) => isWorkspacePath(text) && !text.includes('/'));
    const path = fc
      .array(segment, { minLength: 1, maxLength: 8 })
      .map((segments) => segments.join('/'))
      .filter((text) => isWorkspacePath(text) && text.isWellFormed());
    const files = fc.uniqueArray(fc.record({ path, content: fc.uint8Array({ maxLength: 1_500 }) }), {
      selector: (entry) => entry.path,
      maxLength: 6,
    });
    fc.assert(
      fc.property(files, fc.integer({ min: 1, max: 3_000 }), (entries, pieceBytes) => {
        const sent = entries.map((entry) => file(entry.path, Buffer.from(entry.content)));
        const archive = packFiles(sent);
        expect(archive.length % TAR_BLOCKING_BYTES).toBe(0);
        const collector = collect(archive, { pieceBytes });
        expect(collector.done).toBe(true);
        expect(collector.files).toEqual(sent);
        expect(collect(archive, { sent }).files).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });
});

describe('FileCollector', () => {
  it('strips the ./ that tar puts in front', () => {
    expect(collect(Buffer.concat([rawEntry('./a/b', '0', Buffer.from('x')), END])).files).toEqual([file('a/b', 'x')]);
  });

  const longName = (name: string | Buffer) => rawEntry('././@LongLink', 'L', Buffer.concat([Buffer.from(name), Buffer.alloc(1)]));
  const x = Buffer.from('x');

  it.each<[string, Buffer, string, string]>([
    ['an absolute path', rawEntry('/etc/passwd', '0', x), '/etc/passwd', 'Its path is not allowed'],
    ['a way out', rawEntry('a/../../b', '0', x), 'a/../../b', 'Its path is not allowed'],
    [
      'a long way out',
      Buffer.concat([longName(`${'../'.repeat(60)}x`), rawEntry('x', '0', x)]),
      `${'../'.repeat(60)}x`,
      'Its path is not allowed',
    ],
    ['a symbolic link', rawEntry('./link', '2', Buffer.alloc(0)), 'link', 'It is a symbolic link'],
    [
      'a symbolic link with a long name and a long target',
      Buffer.concat([
        longName('l'.repeat(120)),
        rawEntry('././@LongLink', 'K', Buffer.alloc(200, 't')),
        rawEntry('l', '2', Buffer.alloc(0)),
      ]),
      'l'.repeat(120),
      'It is a symbolic link',
    ],
    ['a hard link', rawEntry('link', '1', Buffer.alloc(0)), 'link', 'It is a hard link to another file'],
    ['a device', rawEntry('null', '3', Buffer.alloc(0)), 'null', 'It is a device'],
    ['a pipe', rawEntry('pipe', '6', Buffer.alloc(0)), 'pipe', 'It is a named pipe'],
    ['what else there may be', rawEntry('sparse', 'S', x), 'sparse', 'It is not a regular file'],
    [
      'a name that is not UTF-8',
      Buffer.concat([longName(Buffer.from('./a\n caf\xe9\\', 'latin1')), rawEntry('x', '0', x)]),
      'a\\x0a caf\\xe9\\',
      'Its name is not UTF-8',
    ],
    [
      'a path that is too long',
      Buffer.concat([longName(`${'d'.repeat(250)}/`.repeat(3)), rawEntry('d', '0', x)]),
      `${`${'d'.repeat(250)}/`.repeat(3).slice(0, 511)}…`,
      'Its path is longer than 512 bytes',
    ],
    [
      'a path that is longer than all that is kept of one',
      Buffer.concat([longName(`a${'😀'.repeat(3_000)}`), rawEntry('d', '0', x)]),
      `a${'😀'.repeat(255)}…`,
      'Its path is longer than 512 bytes',
    ],
  ])('leaves out %s, says so and reads on', (_, entry, path, reason) => {
    const archive = Buffer.concat([entry, rawEntry('good', '0', Buffer.from('good')), END]);
    for (const pieceBytes of [1, 700, archive.length]) {
      const collector = collect(archive, { pieceBytes });
      expect(collector.files).toEqual([file('good', 'good')]);
      expect(collector.skipped).toEqual([{ path, reason }]);
      expect(collector.skippedCount).toBe(1);
      expect(collector.done).toBe(true);
    }
  });

  it('says nothing of folders and of headers that hold no file', () => {
    const entries = [rawEntry('./folder/', '5', Buffer.alloc(0)), rawEntry('pax', 'x', x), rawEntry('pax', 'g', x)];
    const collector = collect(Buffer.concat([...entries, END]));
    expect([collector.files, collector.skipped, collector.skippedCount]).toEqual([[], [], 0]);
  });

  it('ends with an archive that is larger than the folder can be', () => {
    const collector = new FileCollector({ sent: [], maxFileBytes: 1_000 });
    collector.push(Buffer.concat([packFiles([file('a', 'x')]).subarray(0, 1_024), rawEntry('holes', '0', Buffer.alloc(0), 8 ** 11 - 1)]));
    for (let mib = 0; mib < 160; mib += 1) {
      expect(collector.isOverfull).toBe(false);
      collector.push(Buffer.alloc(1_048_576));
    }
    expect(collector.isOverfull).toBe(true);
    expect(collector.done).toBe(false);
    expect(collector.files).toEqual([file('a', 'x')]);
    expect(collector.skipped).toEqual([
      { path: '.', reason: 'The files are larger together than their folder is' },
      { path: 'holes', reason: expect.any(String) },
    ]);
    expect(collector.skippedCount).toBe(2);
  });

  it('names the first 100 and counts all', () => {
    const entries = Array.from({ length: 250 }, (_, index) => rawEntry(`link${index}`, '2', Buffer.alloc(0)));
    const collector = collect(Buffer.concat([...entries, END]));
    expect(collector.skipped).toHaveLength(100);
    expect(collector.skipped[99]).toEqual({ path: 'link99', reason: 'It is a symbolic link' });
    expect(collector.skippedCount).toBe(250);
    collector.skipRest('time is up');
    collector.skipRest('again');
    expect(collector.skipped).toHaveLength(100);
    expect(collector.skipped[0]).toEqual({ path: '.', reason: 'time is up' });
    expect(collector.skippedCount).toBe(251);
  });

  it('ends at a broken header and keeps what was there before, and says that more may be missing', () => {
    const broken = rawEntry('b', '0', Buffer.from('x'));
    broken[0] = 1;
    const collector = collect(Buffer.concat([rawEntry('a', '0', Buffer.from('x')), broken, rawEntry('c', '0', Buffer.from('x')), END]));
    expect(collector.done).toBe(false);
    expect(collector.files).toEqual([file('a', 'x')]);
    expect(collector.skipped).toEqual([{ path: '.', reason: 'Not all files could be read' }]);
  });

  it('names a file that is too large without keeping it', () => {
    const archive = Buffer.concat([rawEntry('large', '0', Buffer.alloc(1_001)), rawEntry('fits', '0', Buffer.alloc(1_000)), END]);
    const collector = collect(archive, { maxFileBytes: 1_000 });
    expect(collector.files.map(({ path }) => path)).toEqual(['fits']);
    expect(collector.skipped).toEqual([{ path: 'large', reason: 'It is larger than 1000 bytes' }]);
  });

  it('does not name a large file that is as it was sent, and does when it has changed', () => {
    const sent = [file('large', Buffer.alloc(2_000))];
    expect(collect(packFiles(sent), { sent, maxFileBytes: 1_000 }).skipped).toEqual([]);
    expect(collect(packFiles([file('large', Buffer.alloc(2_000, 1))]), { sent, maxFileBytes: 1_000 }).skipped).toEqual([
      { path: 'large', reason: 'It is larger than 1000 bytes' },
    ]);
  });

  it('keeps at most 16 MiB of all files', () => {
    const entries = Array.from({ length: 5 }, (_, index) => rawEntry(`f${index}`, '0', Buffer.alloc(4_194_304)));
    const collector = collect(Buffer.concat([...entries, END]), { maxFileBytes: 10_000_000, pieceBytes: 65_536 });
    expect(collector.files.map(({ path }) => path)).toEqual(['f0', 'f1', 'f2', 'f3']);
    expect(collector.skipped).toEqual([{ path: 'f4', reason: 'The files of the run are larger than 16777216 bytes together' }]);
  });

  it('does not wait in vain for the size of a huge entry', () => {
    const collector = collect(rawEntry('huge', '0', Buffer.from('x'), 8_589_934_591));
    expect(collector.done).toBe(false);
    expect(collector.skipped).toEqual([{ path: 'huge', reason: 'It is larger than 1000000 bytes' }]);
  });
});
