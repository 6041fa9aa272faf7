import {
  isWorkspacePath,
  MAX_PATH_BYTES,
  MAX_RETURNED_BYTES,
  MAX_RETURNED_FILES,
  MAX_SKIPPED_FILES,
  MAX_SKIPPED_PATH_CHARS,
  type RunFile,
  type SkippedFile,
} from '../src/contract/runs.ts';

const BLOCK = 512;
/** GNU's long names are kept up to this many bytes, Linux's longest path (PATH_MAX). */
const MAX_NAME_BYTES = 4_096;
/** The 64 MiB and 16,384 names of a full /workspace take less; only files with holes, which tar writes out, take more. */
const MAX_ARCHIVE_BYTES = 167_772_160;

/** Types that no program makes a file of: folders, and headers that tell more of the entry after them. */
const SILENT_TYPES = '5KgxXNV';
const REASON_BY_TYPE: Readonly<Record<string, string>> = {
  '1': 'It is a hard link to another file',
  '2': 'It is a symbolic link',
  '3': 'It is a device',
  '4': 'It is a device',
  '6': 'It is a named pipe',
};

interface Entry {
  type: 'file' | 'long-name' | 'other';
  path: string;
  size: number;
  /** Bytes that are still to come, padding included. */
  left: number;
  /** Bytes of the content that are still to be kept. */
  wanted: number;
  /** undefined when the content is not kept. */
  content: Buffer[] | undefined;
}

const cString = (bytes: Buffer): Buffer => {
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
};

/** The text of a name in UTF-8; undefined when it is not UTF-8. One that is not kept whole may end within a character. */
function decodeName(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: bytes.length >= MAX_NAME_BYTES });
  } catch {
    return undefined;
  }
}

/** A name that is not UTF-8, with every byte that is not printable ASCII as `\\xff`. */
const escapeName = (bytes: Buffer): string =>
  bytes.toString('latin1').replace(/[^ -~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);

/** A path for people to read, cut to its allowed length without splitting a surrogate pair. */
const shorten = (path: string): string =>
  path.length <= MAX_SKIPPED_PATH_CHARS ? path : `${path.slice(0, MAX_SKIPPED_PATH_CHARS - 1).replace(/[\ud800-\udbff]$/, '')}…`;

const withoutDot = (path: string): string => path.replace(/^\.\//, '');

/** Size of an entry; undefined when the field or the checksum of the header is not right. */
function readSize(header: Buffer): number | undefined {
  const size = cString(header.subarray(124, 136)).toString('latin1').trim();
  const sum = cString(header.subarray(148, 156)).toString('latin1').trim();
  const actual = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 32 : byte), 0);
  return /^[0-7]+$/.test(size) && /^[0-7]+$/.test(sum) && Number.parseInt(sum, 8) === actual ? Number.parseInt(size, 8) : undefined;
}

/**
 * Reads a tar archive (GNU format) that a container sends, and keeps its regular files that are not as they were sent. Nothing in it is believed: links,
 * devices and paths that leave the folder are left out, sizes and counts are capped, and a broken archive ends the collection with what was read so far.
 * What is left out is told with its reason.
 */
export class FileCollector {
  readonly files: RunFile[] = [];
  /** The first of the files that were left out. */
  readonly skipped: SkippedFile[] = [];
  readonly #sent: ReadonlyMap<string, string>;
  readonly #maxFileBytes: number;
  #pending: Buffer = Buffer.alloc(0);
  #entry: Entry | undefined;
  #longName: Buffer | undefined;
  #keptBytes = 0;
  #skippedCount = 0;
  #hasSkippedRest = false;
  #archiveBytes = 0;
  #done = false;

  constructor(options: { sent: readonly RunFile[]; maxFileBytes: number }) {
    this.#sent = new Map(options.sent.map(({ path, contentBase64 }) => [path, contentBase64]));
    this.#maxFileBytes = options.maxFileBytes;
  }

  /** Whether the archive has come to its proper end. */
  get done(): boolean {
    return this.#done && !this.#hasSkippedRest;
  }

  /** Whether more has come than an archive may have; what still comes is not read. */
  get isOverfull(): boolean {
    return this.#archiveBytes > MAX_ARCHIVE_BYTES;
  }

  /** Files that were left out, also those past the ones that are named. */
  get skippedCount(): number {
    return this.#skippedCount;
  }

  push(chunk: Buffer): void {
    this.#archiveBytes += chunk.length;
    if (this.isOverfull) {
      this.#done = true;
      this.skipRest('The files are larger together than their folder is');
    }
    let bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    while (!this.#done) {
      if (this.#entry) {
        bytes = this.#readContent(this.#entry, bytes);
        if (this.#entry) break;
      } else {
        if (bytes.length < BLOCK) break;
        this.#readHeader(bytes.subarray(0, BLOCK));
        bytes = bytes.subarray(BLOCK);
      }
    }
    this.#pending = this.#done ? Buffer.alloc(0) : bytes;
  }

  /** Tells that files are missing of which not even the names are known; the first reason stays. */
  skipRest(reason: string): void {
    if (this.#hasSkippedRest) return;
    this.#hasSkippedRest = true;
    this.#skippedCount += 1;
    this.skipped.unshift({ path: '.', reason });
    this.skipped.splice(MAX_SKIPPED_FILES);
  }

  #readHeader(header: Buffer): void {
    const size = readSize(header);
    if (size === undefined) {
      // Zeros end an archive; anything else that is no header breaks it.
      this.#done = true;
      if (header.some((byte) => byte !== 0)) this.skipRest('Not all files could be read');
      return;
    }
    const type = String.fromCharCode(header[156] ?? 0);
    const left = Math.ceil(size / BLOCK) * BLOCK;
    if (type === 'L') this.#entry = { type: 'long-name', path: '', size, left, wanted: Math.min(size, MAX_NAME_BYTES), content: [] };
    else if (SILENT_TYPES.includes(type)) this.#entry = { type: 'other', path: '', size, left, wanted: 0, content: undefined };
    else this.#entry = this.#readFileHeader(cString(this.#longName ?? header.subarray(0, 100)), type, size, left);
    // The headers of a long link target stand between a long name and its entry.
    if (type !== 'K') this.#longName = undefined;
    if (left === 0) this.#finish(this.#entry);
  }

  #readFileHeader(name: Buffer, type: string, size: number, left: number): Entry {
    const decoded = decodeName(name);
    const path = withoutDot(decoded ?? escapeName(name));
    const reason = this.#refuse(decoded === undefined ? undefined : path, type, size);
    if (reason === undefined) return { type: 'file', path, size, left, wanted: size, content: [] };
    this.#skip(path, reason);
    return { type: 'other', path, size, left, wanted: 0, content: undefined };
  }

  /** Why an entry is not read, if so. A file of the size that was sent is read in any case, since it may be as it was. */
  #refuse(path: string | undefined, type: string, size: number): string | undefined {
    if (type !== '0' && type !== '\0') return REASON_BY_TYPE[type] ?? 'It is not a regular file';
    if (path === undefined) return 'Its name is not UTF-8';
    if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `Its path is longer than ${MAX_PATH_BYTES} bytes`;
    if (!isWorkspacePath(path)) return 'Its path is not allowed';
    return Buffer.byteLength(this.#sent.get(path) ?? '', 'base64') === size && this.#sent.has(path) ? undefined : this.#refuseSize(size);
  }

  #refuseSize(size: number): string | undefined {
    if (size > this.#maxFileBytes) return `It is larger than ${this.#maxFileBytes} bytes`;
    if (this.files.length >= MAX_RETURNED_FILES) return `The run left more than ${MAX_RETURNED_FILES} files`;
    if (this.#keptBytes + size > MAX_RETURNED_BYTES) return `The files of the run are larger than ${MAX_RETURNED_BYTES} bytes together`;
    return undefined;
  }

  #skip(path: string, reason: string): void {
    this.#skippedCount += 1;
    if (this.skipped.length < MAX_SKIPPED_FILES) this.skipped.push({ path: shorten(path), reason });
  }

  /** Takes what belongs to the entry and returns the rest. */
  #readContent(entry: Entry, bytes: Buffer): Buffer {
    const taken = Math.min(entry.left, bytes.length);
    const kept = Math.min(entry.wanted, taken);
    // A copy: a slice would keep the whole chunk of the stream alive.
    if (kept > 0) entry.content?.push(Buffer.from(bytes.subarray(0, kept)));
    entry.wanted -= kept;
    entry.left -= taken;
    if (entry.left === 0) this.#finish(entry);
    return bytes.subarray(taken);
  }

  #finish(entry: Entry): void {
    this.#entry = undefined;
    if (!entry.content) return;
    const content = Buffer.concat(entry.content);
    if (entry.type === 'long-name') {
      this.#longName = content;
      return;
    }
    const { path } = entry;
    const contentBase64 = content.toString('base64');
    if (this.#sent.get(path) === contentBase64) return;
    const reason = this.#refuseSize(content.length);
    if (reason !== undefined) {
      this.#skip(path, reason);
      return;
    }
    this.#keptBytes += content.length;
    this.files.push({ path, contentBase64 });
  }
}
