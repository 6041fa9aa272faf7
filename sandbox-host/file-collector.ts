import { isWorkspacePath, MAX_RETURNED_BYTES, MAX_RETURNED_FILES, type RunFile } from '../src/contract/runs.ts';

const BLOCK = 512;
/** GNU's long names are kept up to this many bytes; a longer one is no path that we return. */
const MAX_NAME_BYTES = 1_024;
/** Skipped paths that are listed. */
const MAX_SKIPPED = 100;

interface Entry {
  type: 'file' | 'long-name' | 'other';
  path: string | undefined;
  size: number;
  /** Bytes that are still to come, padding included. */
  left: number;
  /** undefined when the content is not kept. */
  content: Buffer[] | undefined;
}

const cString = (bytes: Buffer): Buffer => {
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
};

/** The text of a name in UTF-8; undefined when it is not UTF-8. */
function decodeName(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(cString(bytes));
  } catch {
    return undefined;
  }
}

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
 */
export class FileCollector {
  readonly files: RunFile[] = [];
  readonly skipped: string[] = [];
  readonly #sent: ReadonlyMap<string, string>;
  readonly #maxFileBytes: number;
  #pending: Buffer = Buffer.alloc(0);
  #entry: Entry | undefined;
  #longName: Buffer | undefined;
  #keptBytes = 0;
  #done = false;

  constructor(options: { sent: readonly RunFile[]; maxFileBytes: number }) {
    this.#sent = new Map(options.sent.map(({ path, contentBase64 }) => [path, contentBase64]));
    this.#maxFileBytes = options.maxFileBytes;
  }

  /** Whether the archive has ended. */
  get done(): boolean {
    return this.#done;
  }

  push(chunk: Buffer): void {
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

  #readHeader(header: Buffer): void {
    const size = readSize(header);
    if (size === undefined) {
      // Zeros end an archive; anything else that is no header breaks it.
      this.#done = true;
      return;
    }
    const type = String.fromCharCode(header[156] ?? 0);
    const padded = Math.ceil(size / BLOCK) * BLOCK;
    if (type === 'L') {
      this.#entry = { type: 'long-name', path: undefined, size, left: padded, content: size <= MAX_NAME_BYTES ? [] : undefined };
      this.#longName = Buffer.alloc(0);
      return;
    }
    const path = decodeName(this.#longName ?? header.subarray(0, 100))?.replace(/^\.\//, '');
    this.#longName = undefined;
    const isFile = (type === '0' || type === '\0') && path !== undefined && isWorkspacePath(path);
    const keeps = isFile && this.#hasRoomFor(path, size);
    this.#entry = { type: isFile ? 'file' : 'other', path, size, left: padded, content: keeps ? [] : undefined };
    if (padded === 0) this.#finish(this.#entry);
  }

  /** A file of the size that was sent is read in any case, since it may be as it was. */
  #hasRoomFor(path: string, size: number): boolean {
    if (this.#fits(size) || Buffer.byteLength(this.#sent.get(path) ?? '', 'base64') === size) return true;
    this.#skip(path);
    return false;
  }

  #fits(size: number): boolean {
    return size <= this.#maxFileBytes && this.#keptBytes + size <= MAX_RETURNED_BYTES && this.files.length < MAX_RETURNED_FILES;
  }

  #skip(path: string): void {
    if (this.skipped.length < MAX_SKIPPED) this.skipped.push(path);
  }

  /** Takes what belongs to the entry and returns the rest. */
  #readContent(entry: Entry, bytes: Buffer): Buffer {
    const taken = Math.min(entry.left, bytes.length);
    // A copy: a slice would keep the whole chunk of the stream alive.
    if (taken > 0) entry.content?.push(Buffer.from(bytes.subarray(0, taken)));
    entry.left -= taken;
    if (entry.left === 0) this.#finish(entry);
    return bytes.subarray(taken);
  }

  #finish(entry: Entry): void {
    this.#entry = undefined;
    if (!entry.content) return;
    const content = Buffer.concat(entry.content).subarray(0, entry.size);
    if (entry.type === 'long-name') {
      this.#longName = content;
      return;
    }
    const path = entry.path ?? '';
    const contentBase64 = content.toString('base64');
    if (this.#sent.get(path) === contentBase64) return;
    if (!this.#fits(content.length)) {
      this.#skip(path);
      return;
    }
    this.#keptBytes += content.length;
    this.files.push({ path, contentBase64 });
  }
}
