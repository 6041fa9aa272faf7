import type { OutputStream } from '../src/contract/runs.ts';
import { FrameReader } from './frame-reader.ts';
import { MarkerSplitter } from './marker-splitter.ts';

/** How a program ended. */
export interface ProgramEnd {
  exitCode: number;
  oomKilled: boolean;
}

export interface SupervisorEvents {
  onStart(): void;
  /** The files could not be unpacked; nothing was started. */
  onFilesRefused(): void;
  onOutput(stream: OutputStream, bytes: Buffer): void;
  /** All output is there. */
  onEnd(end: ProgramEnd): void;
  /** Bytes of the archive of /workspace. */
  onArchive(bytes: Buffer): void;
  /** The archive is there; `isWhole` when everything in /workspace could be read. */
  onArchiveEnd(isWhole: boolean): void;
}

const TRAILER = /^(\d{1,3}) (\d{1,9})\n/;
const ARCHIVE_TRAILER = /^(\d{1,3})\n/;
const MAX_TRAILER_BYTES = 32;

/** Tells the supervisor's words from the program's output in what a container sends. The protocol stands at `SUPERVISOR`. */
export class SupervisorReader {
  readonly #events: SupervisorEvents;
  readonly #splitters: Record<OutputStream, MarkerSplitter>;
  readonly #frames: FrameReader;
  #hasStarted = false;
  #stdoutEnded = false;
  #trailer = '';
  #archiveTrailer = '';
  #archiveEnded = false;
  #end: ProgramEnd | undefined;

  constructor(nonce: string, events: SupervisorEvents) {
    this.#events = events;
    this.#splitters = {
      stdout: new MarkerSplitter(nonce, (bytes, markers) => this.#readStdout(bytes, markers)),
      stderr: new MarkerSplitter(nonce, (bytes, markers) => this.#readStderr(bytes, markers)),
    };
    this.#frames = new FrameReader((stream, bytes) => this.#splitters[stream].push(bytes));
  }

  push(chunk: Buffer): void {
    this.#frames.push(chunk);
  }

  /** Nothing more comes: hands out what was held back. */
  end(): void {
    this.#splitters.stdout.end();
    this.#splitters.stderr.end();
  }

  #readStdout(bytes: Buffer, markers: number): void {
    if (markers === 0) {
      this.#events.onOutput('stdout', bytes);
    } else if (markers > 1) {
      if (this.#archiveTrailer.length < MAX_TRAILER_BYTES) this.#archiveTrailer += bytes.toString('latin1');
      this.#tellArchiveEnd();
    } else if (this.#stdoutEnded) {
      this.#events.onArchive(bytes);
    } else {
      this.#stdoutEnded = true;
      this.#tellEnd();
    }
  }

  #readStderr(bytes: Buffer, markers: number): void {
    if (markers === 0 || bytes.length === 0) return;
    if (markers > 1) {
      if (this.#trailer.length < MAX_TRAILER_BYTES) this.#trailer += bytes.toString('latin1');
      this.#tellEnd();
    } else if (this.#hasStarted) {
      this.#events.onOutput('stderr', bytes);
    } else {
      this.#hasStarted = true;
      if (bytes[0] === 'F'.charCodeAt(0)) this.#events.onFilesRefused();
      else this.#events.onStart();
      if (bytes.length > 1) this.#events.onOutput('stderr', bytes.subarray(1));
    }
  }

  #tellArchiveEnd(): void {
    const [, status] = ARCHIVE_TRAILER.exec(this.#archiveTrailer) ?? [];
    if (this.#archiveEnded || status === undefined) return;
    this.#archiveEnded = true;
    this.#events.onArchiveEnd(Number(status) === 0);
  }

  /** Docker copies the two streams independently, so the end is there when both say so. */
  #tellEnd(): void {
    const [, exitCode, oomKills] = TRAILER.exec(this.#trailer) ?? [];
    if (this.#end || !this.#stdoutEnded || exitCode === undefined) return;
    this.#end = { exitCode: Number(exitCode), oomKilled: Number(oomKills) > 0 };
    this.#events.onEnd(this.#end);
  }
}
