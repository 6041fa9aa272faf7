import { createHash } from 'node:crypto';
import { OUTPUT_STREAMS, type OutputStream, type RunRequest, type RunResult } from '../src/contract/runs.ts';
import { HostError } from './host-error.ts';
import { OutputLog } from './output-log.ts';

type RunState = 'waiting' | 'running' | 'ended';

/** One run, as several callers may see it. */
export interface RegisteredRun {
  readonly id: string;
  readonly image: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Settles when the program has started, or the run has ended. */
  readonly started: Promise<void>;
  readonly hasStarted: boolean;
  readonly result: Promise<RunResult>;
  /** What the program has printed and goes on to print; of an ended run stdout first. */
  readonly output: OutputLog;
}

/** Starts a run; as `SandboxRunner.run`. */
export type StartRun = (
  request: RunRequest,
  on: { onStart(): void; onOutput(stream: OutputStream, text: string): void },
) => Promise<RunResult>;

/** How long a run is kept once it has ended, so that a repeat gets its result. */
const KEEP_MS = 600_000;
const MAX_KEPT_RUNS = 10_000;
/** Characters of all results that are kept. */
const MAX_KEPT_CHARS = 16_777_216;
/** How long a run goes on when the last of its callers has gone, so that one whose connection broke can come back. */
const ABANDONED_MS = 1_000;

interface Entry {
  digest: string;
  request: Pick<RunRequest, 'id' | 'image'>;
  createdAt: number;
  state: RunState;
  started: Promise<void>;
  hasStarted: boolean;
  result: Promise<RunResult> | undefined;
  output: OutputLog;
  callers: number;
  keptChars: number;
  endedAt: number | undefined;
  abandoned: NodeJS.Timeout | undefined;
}

const digestOf = (request: RunRequest) => createHash('sha256').update(JSON.stringify(request)).digest('hex');

const sizeOf = (result: RunResult) =>
  result.stdout.length + result.stderr.length + result.files.reduce((total, { contentBase64 }) => total + contentBase64.length, 0);

/** Knows the runs of this host by id, so that an id that is sent again gets the run that it named first. */
export class RunRegistry {
  readonly #start: StartRun;
  readonly #kill: (id: string) => void;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();
  #keptChars = 0;

  constructor(parts: { start: StartRun; kill: (id: string) => void; now: () => number }) {
    this.#start = parts.start;
    this.#kill = parts.kill;
    this.#now = parts.now;
  }

  /** Runs that wait or run. */
  get active(): { id: string; image: string; state: RunState; createdAt: number }[] {
    return [...this.#entries.values()]
      .filter(({ state }) => state !== 'ended')
      .map(({ request, state, createdAt }) => ({ id: request.id, image: request.image, state, createdAt }));
  }

  /**
   * The result of a run, started by its first caller. A caller's signal says that it has gone: a run that waits and has no callers left is given up at once,
   * one that runs a little later. Throws `id_in_use` for an id that belongs to another request or whose result is no longer kept.
   */
  join(request: RunRequest, signal: AbortSignal): RegisteredRun {
    this.#forgetOld();
    const digest = digestOf(request);
    const known = this.#entries.get(request.id);
    if (known && known.digest !== digest) throw new HostError('id_in_use', `Another run has the id ${request.id}`);
    if (known && !known.result) throw new HostError('id_in_use', `Run ${request.id} has ended, and its result is no longer kept`);
    const entry = known ?? this.#add(request, digest);
    this.#attend(entry, signal);
    return this.#viewOf(entry);
  }

  #add(request: RunRequest, digest: string): Entry {
    const { promise: started, resolve: setStarted } = Promise.withResolvers<void>();
    const entry: Entry = {
      digest,
      request: { id: request.id, image: request.image },
      createdAt: this.#now(),
      state: 'waiting',
      started,
      hasStarted: false,
      result: undefined,
      output: new OutputLog(),
      callers: 0,
      keptChars: 0,
      endedAt: undefined,
      abandoned: undefined,
    };
    this.#entries.set(request.id, entry);
    entry.result = this.#start(request, {
      onStart() {
        entry.state = 'running';
        entry.hasStarted = true;
        setStarted();
      },
      onOutput(stream, text) {
        entry.output.append(stream, text);
      },
    });
    entry.result
      .then(
        (result) => this.#end(entry, result),
        () => this.#end(entry, undefined),
      )
      .then(setStarted);
    return entry;
  }

  #end(entry: Entry, result: RunResult | undefined): void {
    clearTimeout(entry.abandoned);
    // What has not run may be sent again; what has must not run twice.
    if (!entry.hasStarted) this.#entries.delete(entry.request.id);
    else entry.keptChars = result ? sizeOf(result) : 0;
    entry.state = 'ended';
    entry.endedAt = this.#now();
    entry.output = new OutputLog();
    for (const stream of OUTPUT_STREAMS) entry.output.append(stream, result?.[stream] ?? '');
    this.#keptChars += entry.keptChars;
    this.#forgetOld();
  }

  #attend(entry: Entry, signal: AbortSignal): void {
    clearTimeout(entry.abandoned);
    entry.callers += 1;
    const onLeave = () => {
      entry.callers -= 1;
      if (entry.callers > 0 || entry.state === 'ended') return;
      if (entry.state === 'waiting') this.#kill(entry.request.id);
      else entry.abandoned = setTimeout(() => this.#kill(entry.request.id), ABANDONED_MS);
    };
    if (signal.aborted) onLeave();
    else signal.addEventListener('abort', onLeave, { once: true });
  }

  #viewOf(entry: Entry): RegisteredRun {
    return {
      id: entry.request.id,
      image: entry.request.image,
      createdAt: entry.createdAt,
      started: entry.started,
      get hasStarted() {
        return entry.hasStarted;
      },
      result: entry.result as Promise<RunResult>,
      output: entry.output,
    };
  }

  /** Forgets ended runs that are too old or too many, and the results of the oldest when all are too large. */
  #forgetOld(): void {
    const oldest = this.#now() - KEEP_MS;
    let surplus = this.#entries.size - MAX_KEPT_RUNS;
    for (const [id, entry] of this.#entries) {
      if (entry.endedAt === undefined) continue;
      if (entry.endedAt < oldest || surplus > 0) {
        this.#entries.delete(id);
        this.#dropResult(entry);
        surplus -= 1;
      } else if (this.#keptChars > MAX_KEPT_CHARS) {
        this.#dropResult(entry);
      } else {
        break;
      }
    }
  }

  #dropResult(entry: Entry): void {
    this.#keptChars -= entry.keptChars;
    entry.keptChars = 0;
    entry.result = undefined;
    entry.output = new OutputLog();
  }
}
