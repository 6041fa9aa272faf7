import type { RunFile } from '../src/contract/runs.ts';

const BLOCK = 512;
/** The archive's length is a multiple of this many bytes, so that its end can be read exactly. */
export const TAR_BLOCKING_BYTES = 4_096;

/** A file, or GNU's long name of the entry after it. */
type EntryType = '0' | 'L';

const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`;

/** A header of GNU's tar format; uid and gid are those that programs run under, the time is the epoch. */
function tarHeader(name: Buffer, type: EntryType, size: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  name.copy(header, 0, 0, 100);
  header.write(octal(0o644, 8), 100, 'latin1');
  header.write(octal(65_534, 8), 108, 'latin1');
  header.write(octal(65_534, 8), 116, 'latin1');
  header.write(octal(size, 12), 124, 'latin1');
  header.write(octal(0, 12), 136, 'latin1');
  header.write(type, 156, 'latin1');
  header.write('ustar  \0', 257, 'latin1');
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 7)} `, 148, 'latin1');
  return header;
}

function tarEntry(path: string, type: EntryType, content: Buffer): Buffer[] {
  const name = Buffer.from(path);
  const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
  const own = [tarHeader(name, type, content.length), content, padding];
  return name.length < 100 ? own : [...tarEntry('././@LongLink', 'L', Buffer.from(`${path}\0`)), ...own];
}

/** A tar archive (GNU format) of the files, padded with zeros to `TAR_BLOCKING_BYTES`. Folders are left to the unpacker. */
export function packFiles(files: readonly RunFile[]): Buffer {
  const parts = files.flatMap(({ path, contentBase64 }) => tarEntry(path, '0', Buffer.from(contentBase64, 'base64')));
  const bytes = parts.reduce((total, part) => total + part.length, 0) + 2 * BLOCK;
  const archive = Buffer.alloc(Math.ceil(bytes / TAR_BLOCKING_BYTES) * TAR_BLOCKING_BYTES);
  let offset = 0;
  for (const part of parts) offset += part.copy(archive, offset);
  return archive;
}
