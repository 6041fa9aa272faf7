import type { RunEvent } from '../src/contract/runs.ts';
import { describeError } from './host-error.ts';
import type { RegisteredRun } from './run-registry.ts';

/** How long the beginning of a line waits for the line's end: a prompt has none. */
const LINE_END_MS = 100;
const KEEPALIVE_MS = 5_000;

/** The events as lines, each made when it is asked for. Ends early when the signal fires. */
async function* runEventLines(run: RegisteredRun, signal: AbortSignal): AsyncGenerator<string> {
  const reader = run.output.read();
  let wake = (): void => {};
  let ending: RunEvent | undefined;
  const onNews = () => wake();
  run.result
    .then(
      (result): RunEvent => ({ type: 'result', ...result }),
      (error): RunEvent => ({ type: 'error', ...describeError(error) }),
    )
    .then((event) => {
      ending = event;
      onNews();
    });
  const unwatch = run.output.watch(onNews);
  signal.addEventListener('abort', onNews);

  /** Resolves with whether something is new. */
  const waitForNews = (timeoutMs: number): Promise<boolean> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), timeoutMs);
      wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });

  try {
    let lineSince: number | undefined;
    while (!signal.aborted) {
      const last = ending;
      const lineMs = lineSince === undefined ? 0 : Date.now() - lineSince;
      const event = reader.next(last !== undefined || lineMs >= LINE_END_MS) ?? last;
      if (event) {
        lineSince = undefined;
        yield `${JSON.stringify(event)}\n`;
        if (event === last) return;
      } else if (reader.hasMore) {
        lineSince ??= Date.now();
        await waitForNews(LINE_END_MS - lineMs);
      } else if (!(await waitForNews(KEEPALIVE_MS))) {
        yield ' ';
      }
    }
  } finally {
    unwatch();
    signal.removeEventListener('abort', onNews);
  }
}

/** The events of a run as its answer. A slow reader neither holds up the run nor makes anything grow: what is next is read from the run's output when it is asked for. */
export function runEventStream(run: RegisteredRun, signal: AbortSignal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const lines = runEventLines(run, signal);
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await lines.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel: () => void lines.return(undefined),
  });
}
