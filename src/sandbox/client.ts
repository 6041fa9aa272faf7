import type * as z from 'zod';
import {
  BROWSER_NOT_CONFIGURED,
  BROWSER_RUNS_PATH,
  browserRunResult,
  MAX_BROWSER_ANSWER_BYTES,
  MAX_BROWSER_TIMEOUT_MS,
} from '../contract/browser-runs.ts';
import {
  HEALTH_PATH,
  LIFE_HEADER,
  LIFE_QUERY,
  LOAD_HEADER,
  MAX_REQUEST_BYTES,
  MAX_RETURNED_BYTES,
  READY_PATH,
  RUN_EVENTS_TYPE,
  RUNS_PATH,
  type RunRequestInput,
  runResult,
  TOO_LARGE,
} from '../contract/runs.ts';
import type { SandboxPool } from '../env.ts';
import { readBytes } from '../net/read-bytes.ts';
import { type Browser, type Sandbox, type SandboxRunOptions, SkillError } from '../skills/define.ts';
import { HostDirectory, type KnownHost, type Location } from './host-directory.ts';
import { refusalOf, TryNextHost } from './host-refusal.ts';
import { inspectPools, type PoolReport } from './inspect-pools.ts';
import { OutputRelay } from './output-relay.ts';
import { readRunEvents } from './read-run-events.ts';
import { busy, cancelled, lost, lostMidway, unavailable } from './run-failures.ts';
import { signRequest } from './sign-request.ts';

export interface SandboxClientOptions {
  pools: readonly SandboxPool[];
  /** Shared with the sandbox-hosts. */
  secret: string | undefined;
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  now: () => number;
  /** At least 16 characters that nobody can guess. */
  newId: () => string;
  /** As `Math.random`. */
  random: () => number;
}

export const SANDBOX_STATUSES = ['ok', 'unavailable', 'not_configured'] as const;
export type SandboxStatus = (typeof SANDBOX_STATUSES)[number];

/** The sandbox-hosts as a whole; as a `Sandbox` it starts with the first pool. Keep one per isolate, since it learns which hosts work. */
export interface SandboxClient extends Sandbox, Browser {
  /** The sandbox that tries the pool nearest to where a request came in first. */
  near(location: Location): Sandbox & Browser;
  /** Whether any host can run programs; answers within a second. Never rejects. */
  probe(): Promise<SandboxStatus>;
  /** How every host is; answers within seconds. Never rejects. */
  inspect(): Promise<PoolReport[]>;
}

const PROBE_TIMEOUT_MS = 1_000;
const KILL_TIMEOUT_MS = 2_000;
/** While a host has a run of ours it is asked this often whether it is there; after so many questions without an answer it is given up. */
const WATCH_INTERVAL_MS = 2_000;
const MAX_UNANSWERED = 3;
/** What a run may take on top of its own timeout: its wait for a place and the container's start. */
const OVERHEAD_MS = 60_000;
const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_OUTPUT_CHARS = 100_000;

/** One run, as a host is asked for it. */
interface HostCall<Result> {
  id: string;
  path: string;
  /** JSON of the request. */
  body: Uint8Array<ArrayBuffer>;
  result: z.ZodType<Result>;
  timeoutMs: number;
  maxAnswerBytes: number;
  image: string;
  /**
   * Whether its program can change what lies outside of its container. Without network it cannot: what a run did whose host is gone is gone with it, and
   * it can begin again elsewhere. With network it must not begin twice.
   */
  once: boolean;
  /** Passes the output on while the program runs, when somebody listens. */
  relay?: OutputRelay | undefined;
}

/** Bytes of an event of output besides its text. */
const EVENT_BYTES = 40;

/**
 * Largest answer that a host may give to this run: JSON takes up to 6 bytes for a character, base64 4 for 3. A stream has all output twice, where each character
 * may come by itself.
 */
function maxAnswerBytes({ limits }: RunRequestInput, isStream: boolean): number {
  const outputChars = 2 * (limits?.maxOutputChars ?? DEFAULT_OUTPUT_CHARS);
  return outputChars * (6 + (isStream ? 6 + EVENT_BYTES : 0)) + Math.ceil((MAX_RETURNED_BYTES * 4) / 3) + 1_048_576;
}

/** The path of a run that only this life of the host may take. */
const inLife = (path: string, life: string | undefined) => `${path}?${LIFE_QUERY}=${encodeURIComponent(life ?? '')}`;

/** The types of Workers leave open what kind of buffer it is. */
const toJson = (request: object) => new TextEncoder().encode(JSON.stringify(request)) as Uint8Array<ArrayBuffer>;

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** The gateway's side of the sandbox-hosts' interface. */
export function createSandboxClient(options: SandboxClientOptions): SandboxClient {
  const { secret, now, newId } = options;
  const directory = new HostDirectory(options);

  async function send(
    host: KnownHost,
    method: string,
    path: string,
    { body, accept }: { body: Uint8Array<ArrayBuffer>; accept?: string },
    signal: AbortSignal,
  ) {
    const authorization = await signRequest({ method, path, body }, { secret: secret ?? '', id: newId(), now: now() });
    const headers = {
      authorization,
      ...(body.length > 0 && { 'content-type': 'application/json' }),
      ...(accept !== undefined && { accept }),
    };
    const init: RequestInit = { method, headers, redirect: 'manual', signal };
    if (body.length > 0) init.body = body;
    return options.fetch(host.url + path, init);
  }

  function noteAnswer(host: KnownHost, { headers }: Response): void {
    host.reportLoad(headers.get(LOAD_HEADER));
    host.life = headers.get(LIFE_HEADER) ?? undefined;
  }

  async function isWell(host: KnownHost, path: typeof READY_PATH | typeof HEALTH_PATH): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
      const response = await options.fetch(host.url + path, { redirect: 'manual', signal });
      await response.body?.cancel();
      noteAnswer(host, response);
      return response.ok;
    } catch {
      host.life = undefined;
      return false;
    }
  }

  /** Aborts when the host answers nothing any more, though its connections stand: it hangs. `stop` ends the watch. */
  function watch(host: KnownHost): { hung: AbortSignal; stop(): void } {
    const controller = new AbortController();
    let unanswered = 0;
    const timer = setInterval(async () => {
      unanswered = (await isWell(host, HEALTH_PATH)) ? 0 : unanswered + 1;
      if (unanswered >= MAX_UNANSWERED) controller.abort();
    }, WATCH_INTERVAL_MS);
    return { hung: controller.signal, stop: () => clearInterval(timer) };
  }

  async function kill(host: KnownHost, id: string): Promise<void> {
    try {
      const signal = AbortSignal.timeout(KILL_TIMEOUT_MS);
      const response = await send(host, 'DELETE', `${RUNS_PATH}/${id}`, { body: new Uint8Array() }, signal);
      await response.body?.cancel();
    } catch {
      // The host ends a run that nobody waits for by itself.
    }
  }

  async function post<Result>(host: KnownHost, path: string, call: HostCall<Result>, signal: AbortSignal): Promise<Result> {
    const { body, relay, maxAnswerBytes: maxBytes } = call;
    const response = await send(host, 'POST', path, { body, ...(relay && { accept: RUN_EVENTS_TYPE }) }, signal);
    let answer: unknown;
    if (relay && response.headers.get('content-type')?.startsWith(RUN_EVENTS_TYPE)) {
      noteAnswer(host, response);
      const last = await readRunEvents(response, { maxBytes, signal, onOutput: relay.begin(host.life) });
      if (last.type === 'error') throw refusalOf(500, last, call.image);
      const { type: _, ...result } = last;
      answer = result;
    } else {
      const { bytes } = await readBytes(response, { maxBytes, signal });
      noteAnswer(host, response);
      answer = parseJson(bytes);
    }
    if (response.status !== 200) throw refusalOf(response.status, answer, call.image);
    const parsed = call.result.safeParse(answer);
    if (!parsed.success) throw new SkillError('The sandbox host sent an answer that cannot be read');
    return parsed.data;
  }

  /** Asks one host, a second time when the connection breaks: the same id gets the run that may have begun there. */
  async function ask<Result>(host: KnownHost, call: HostCall<Result>, signal: AbortSignal): Promise<Result> {
    const deadline = AbortSignal.timeout(call.timeoutMs + OVERHEAD_MS);
    const { hung, stop } = watch(host);
    const either = AbortSignal.any([signal, deadline, hung]);
    const isOurs = (error: unknown) => error instanceof SkillError || error instanceof TryNextHost || either.aborted;
    const path = call.once ? inLife(call.path, host.life) : call.path;
    host.inFlight += 1;
    try {
      return await post(host, path, call, either).catch(async (broken) => {
        if (isOurs(broken)) throw broken;
        // What has been passed on is the output of this very run.
        const again = call.relay?.hasTold ? inLife(call.path, call.relay.life) : path;
        return post(host, again, call, either).catch((error) => {
          // The life that was asked first is over, and nobody knows how far it came.
          throw error instanceof TryNextHost && error.code === 'host_restarted' ? broken : error;
        });
      });
    } catch (error) {
      if (!either.aborted) throw isOurs(error) ? error : new TryNextHost();
      if (hung.aborted && !signal.aborted) throw new TryNextHost();
      await kill(host, call.id);
      throw signal.aborted ? cancelled() : new SkillError('The sandbox host did not answer in time');
    } finally {
      stop();
      host.inFlight -= 1;
    }
  }

  /** A host that failed is probed first; so is one for a run that must not begin twice, since a host that is not there looks like one that was lost. */
  async function mayAsk(host: KnownHost, { once }: Pick<HostCall<unknown>, 'once'>): Promise<boolean> {
    if (!once && !host.isSuspect) return true;
    return (await isWell(host, host.isSuspect ? READY_PATH : HEALTH_PATH)) && !(once && host.life === undefined);
  }

  /** Asks one host after the other until one has taken the run. */
  async function dispatch<Result>(call: HostCall<Result>, { signal, onHost }: SandboxRunOptions, location: Location): Promise<Result> {
    if (secret === undefined) throw unavailable();
    if (call.body.length > MAX_REQUEST_BYTES) throw new SkillError(TOO_LARGE);
    let isFull = false;
    let lack: SkillError | undefined;
    for (const host of directory.candidates(location)) {
      if (signal.aborted) throw cancelled();
      if (!(await mayAsk(host, call))) {
        host.reportFailure(now(), 'not_ready');
        continue;
      }
      try {
        onHost?.(host.url);
        const result = await ask(host, call, signal);
        host.reportSuccess();
        return result;
      } catch (error) {
        if (!(error instanceof TryNextHost)) throw error;
        if (error.isHealthy) host.reportSuccess();
        else host.reportFailure(now(), error.message);
        if (call.once && error.mayHaveBegun) throw lost();
        if (call.relay?.hasTold) throw lostMidway();
        onHost?.(null);
        isFull ||= error.code === 'queue_full';
        lack ??= error.lack;
      }
    }
    // A host that is full may run it later, whatever the others lack.
    if (isFull) throw busy();
    throw lack ?? unavailable();
  }

  const near = (location: Location): Sandbox & Browser => ({
    run(request, runOptions) {
      const { id, image, limits } = request;
      const { onOutput } = runOptions;
      const call = {
        id,
        image,
        path: RUNS_PATH,
        body: toJson(request),
        result: runResult,
        timeoutMs: limits?.timeoutMs ?? DEFAULT_TIMEOUT_MS,
        maxAnswerBytes: maxAnswerBytes(request, onOutput !== undefined),
        relay: onOutput && new OutputRelay(onOutput),
        once: limits?.networkEnabled === true,
      };
      return dispatch(call, runOptions, location);
    },
    async browse(request, runOptions) {
      if (secret === undefined || options.pools.length === 0) throw new SkillError(BROWSER_NOT_CONFIGURED);
      const call = {
        id: request.id,
        image: '',
        path: BROWSER_RUNS_PATH,
        body: toJson(request),
        result: browserRunResult,
        timeoutMs: request.timeoutMs ?? MAX_BROWSER_TIMEOUT_MS,
        maxAnswerBytes: MAX_BROWSER_ANSWER_BYTES,
        once: true,
      };
      return dispatch(call, runOptions, location);
    },
  });
  return {
    ...near({}),
    near,
    async probe() {
      const hosts = directory.candidates({});
      if (hosts.length === 0 || secret === undefined) return 'not_configured';
      const requireReady = async (host: KnownHost) => {
        if (!(await isWell(host, READY_PATH))) throw new TryNextHost();
      };
      return Promise.any(hosts.map(requireReady)).then(
        () => 'ok',
        () => 'unavailable',
      );
    },
    inspect: () => inspectPools(directory, options),
  };
}
