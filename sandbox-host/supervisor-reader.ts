import { constants } from 'node:os';
import type { OutputStream } from '../src/contract/runs.ts';
import { FrameReader } from './frame-reader.ts';
import { MarkerSplitter } from './marker-splitter.ts';

/** How a program ended, and what it took as far as that is known. */
export interface ProgramEnd {
  exitCode: number;
  /** Its name, such as SIGKILL. */
  signal?: string;
  oomKilled: boolean;
  cpuMs?: number;
  maxMemoryBytes?: number;
}

export interface SupervisorEvents {
  /** `cpuMs` is the CPU time that the container had used before, where it is known. */
  onStart(cpuMs: number | undefined): void;
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

/** What `jobs` says, if it was asked, and the four numbers. */
const TRAILER = /^(\[[\s\S]*?\n)?(\d{1,3}) (\d{1,9}) (-1|\d{1,16}) (-1|\d{1,16})\n/;
const HEADER = /^S(-1|\d{1,16})\n/;
const ARCHIVE_TRAILER = /^(\d{1,3}|E)\n/;
const MAX_TRAILER_BYTES = 1_024;
/** Two blocks of zeros, which are a whole archive of nothing. */
const EMPTY_ARCHIVE = Buffer.alloc(1_024);

/** Of two names for one number, such as SIGABRT and SIGIOT, the first. */
const SIGNAL_NAMES = new Map<number, string>(
  Object.entries(constants.signals)
    .map(([name, number]): [number, string] => [number, name])
    .reverse(),
);

/** The signal behind an exit code of 128 and more; undefined when there is none. */
export const signalOf = (exitCode: number): string | undefined => SIGNAL_NAMES.get(exitCode - 128);

/** A program that exits with 137 by itself is `Done(137)` to `jobs`, one that was killed is `Killed`. */
const wasSignalled = (jobs: string | undefined): boolean => jobs === undefined || !/^\[\d+\]\s*[+-]?\s*Done/.test(jobs);

function readEnd([, jobs, exitCode, oomKills, cpuMicroseconds, memoryBytes]: readonly string[]): ProgramEnd {
  const signal = wasSignalled(jobs) ? signalOf(Number(exitCode)) : undefined;
  return {
    exitCode: Number(exitCode),
    ...(signal !== undefined && { signal }),
    oomKilled: Number(oomKills) > 0,
    ...(cpuMicroseconds !== '-1' && { cpuMs: Number(cpuMicroseconds) / 1_000 }),
    ...(memoryBytes !== '-1' && { maxMemoryBytes: Number(memoryBytes) }),
  };
}

/** Tells the supervisor's words from the program's output in what a container sends. The protocol stands at `SUPERVISOR`. */
export class SupervisorReader {
  readonly #events: SupervisorEvents;
  readonly #splitters: Record<OutputStream, MarkerSplitter>;
  readonly #frames: FrameReader;
  #hasStarted = false;
  #header: Buffer = Buffer.alloc(0);
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
      this.#readHeader(Buffer.concat([this.#header, bytes]));
    }
  }

  #readHeader(header: Buffer): void {
    this.#header = header;
    const [line, cpuMicroseconds] = HEADER.exec(header.toString('latin1')) ?? [];
    if (line !== undefined) {
      this.#hasStarted = true;
      this.#events.onStart(cpuMicroseconds === '-1' ? undefined : Number(cpuMicroseconds) / 1_000);
      if (header.length > line.length) this.#events.onOutput('stderr', header.subarray(line.length));
    } else if (header[0] === 'F'.charCodeAt(0)) {
      this.#hasStarted = true;
      this.#events.onFilesRefused();
    }
  }

  #tellArchiveEnd(): void {
    const [, status] = ARCHIVE_TRAILER.exec(this.#archiveTrailer) ?? [];
    if (this.#archiveEnded || status === undefined) return;
    this.#archiveEnded = true;
    if (status === 'E') this.#events.onArchive(EMPTY_ARCHIVE);
    this.#events.onArchiveEnd(status === 'E' || Number(status) === 0);
  }

  /** Docker copies the two streams independently, so the end is there when both say so. */
  #tellEnd(): void {
    if (this.#end || !this.#stdoutEnded) return;
    const trailer = TRAILER.exec(this.#trailer);
    if (!trailer) return;
    this.#end = readEnd(trailer);
    this.#events.onEnd(this.#end);
  }
}
