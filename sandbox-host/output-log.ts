import { MAX_EVENT_CHARS, type OutputStream } from '../src/contract/runs.ts';

/** Texts are kept in blocks of about this length, in UTF-16 units, so that neither adding nor reading copies all that came before. */
const BLOCK_CHARS = 4_096;

export interface OutputPiece {
  type: OutputStream;
  text: string;
}

/** What a run has printed, in the order in which it came, for readers that may each be as slow as they like: a reader is no more than a place in here. */
export class OutputLog {
  readonly blocks: Readonly<Record<OutputStream, string[]>> = { stdout: [], stderr: [] };
  /** Lengths of what came in a row on one stream: on stdout, on stderr, on stdout again, and so on. */
  readonly turns: number[] = [0];
  readonly #watchers = new Set<() => void>();

  append(stream: OutputStream, text: string): void {
    if (text === '') return;
    if (streamOf(this.turns.length - 1) !== stream) this.turns.push(0);
    this.turns[this.turns.length - 1] = (this.turns.at(-1) ?? 0) + text.length;
    const blocks = this.blocks[stream];
    const last = blocks.at(-1);
    if (last !== undefined && last.length < BLOCK_CHARS) blocks[blocks.length - 1] = last + text;
    else blocks.push(text);
    for (const watcher of this.#watchers) watcher();
  }

  /** Calls the watcher whenever something was added, until the function it returns is called. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Reads from the beginning. */
  read(): OutputReader {
    return new OutputReader(this);
  }
}

const streamOf = (turn: number): OutputStream => (turn % 2 === 0 ? 'stdout' : 'stderr');

/** Where a piece is cut off that goes on: not within a character. */
const wholeChars = (text: string): number => (/[\uD800-\uDBFF]$/.test(text) ? text.length - 1 : text.length);

/** Takes texts out of a log, one after the other. */
export class OutputReader {
  readonly #log: OutputLog;
  readonly #places = { stdout: { block: 0, offset: 0 }, stderr: { block: 0, offset: 0 } };
  #turn = 0;
  /** How much of the turn has been taken. */
  #taken = 0;

  constructor(log: OutputLog) {
    this.#log = log;
  }

  /** Whether something is there, be it the beginning of a line alone. */
  get hasMore(): boolean {
    return this.#turn < this.#log.turns.length - 1 || this.#left() > 0;
  }

  /**
   * The next lines that are whole, as many as go into a piece; else a piece of a line that is longer or was interrupted by the other stream. The beginning of the
   * last line stays until it is whole or `mayCutLine`.
   */
  next(mayCutLine: boolean): OutputPiece | undefined {
    while (this.#left() === 0 && this.#turn < this.#log.turns.length - 1) {
      this.#turn += 1;
      this.#taken = 0;
    }
    const left = this.#left();
    if (left === 0) return undefined;
    const type = streamOf(this.#turn);
    const seen = this.#peek(type, Math.min(left, MAX_EVENT_CHARS));
    const lines = seen.lastIndexOf('\n') + 1;
    const isOpen = left < MAX_EVENT_CHARS && this.#turn === this.#log.turns.length - 1;
    if (lines === 0 && isOpen && !mayCutLine) return undefined;
    const text = seen.slice(0, lines === 0 ? wholeChars(seen) : lines);
    this.#skip(type, text.length);
    return { type, text };
  }

  #left(): number {
    return (this.#log.turns[this.#turn] ?? 0) - this.#taken;
  }

  #peek(stream: OutputStream, length: number): string {
    const blocks = this.#log.blocks[stream];
    let { block, offset } = this.#places[stream];
    let text = '';
    for (; text.length < length; block += 1, offset = 0) text += blocks[block]?.slice(offset, offset + length - text.length);
    return text;
  }

  #skip(stream: OutputStream, length: number): void {
    const blocks = this.#log.blocks[stream];
    const place = this.#places[stream];
    this.#taken += length;
    place.offset += length;
    for (let size = blocks[place.block]?.length ?? 0; place.offset >= size && place.block < blocks.length - 1; ) {
      place.block += 1;
      place.offset -= size;
      size = blocks[place.block]?.length ?? 0;
    }
  }
}
