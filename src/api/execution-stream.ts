import { AppError } from '../errors.ts';
import type { Execution } from '../execution/execution.ts';
import { createClientStream } from '../gateway/client-stream.ts';
import type { JsonValue } from '../json.ts';
import type { OnOutput } from '../skills/define.ts';
import { toExecutionBody } from './execution-body.ts';

/** workerd notices that a client has left only when it writes to it. */
const PROBE_MS = 400;
const PROBE = ':\n\n';

export interface ExecutionStreamOptions {
  /** Most that is told of each output stream, in UTF-16 units: a client that does not read makes no more than this pile up. */
  maxOutputChars: number;
  /** Called when the client goes before the end. */
  onLeave(): void;
  now(): number;
}

export interface ExecutionStream {
  onOutput: OnOutput;
  /** To be called once the execution is claimed. */
  onClaimed(executionId: string): void;
  /** Rejects with what the execution is refused with before it is claimed: that has a status of its own. */
  reply(work: Promise<Execution>): Promise<Response>;
}

/** What a client reads of a failure that comes too late for a status. */
const publicError = (error: unknown) =>
  error instanceof AppError ? { error: error.message, code: error.code } : { error: 'Internal error', code: 'internal_error' };

/**
 * An execution as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html): `start` {executionId} once it is claimed, `output` {stream,
 * text} while it runs, and last `execution` {execution}, however it ended, or `error` {error, code} when it could not be run. A repeat is told by the
 * last alone.
 */
export function createExecutionStream({ maxOutputChars, onLeave, now }: ExecutionStreamOptions): ExecutionStream {
  const client = createClientStream(onLeave, now);
  const claimed = Promise.withResolvers<void>();
  const room = { stdout: maxOutputChars, stderr: maxOutputChars };
  const send = (event: string, data: JsonValue) => void client.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

  return {
    onOutput(stream, text) {
      const told = text.length <= room[stream] ? text : text.slice(0, room[stream]).replace(/[\uD800-\uDBFF]$/, '');
      // Nothing may follow a gap.
      room[stream] = told === text ? room[stream] - told.length : 0;
      if (told !== '') send('output', { stream, text: told });
    },
    onClaimed(executionId) {
      send('start', { executionId });
      claimed.resolve();
    },
    async reply(work) {
      await Promise.race([claimed.promise, work]);
      const probing = setInterval(() => client.probe(PROBE), PROBE_MS);
      void work
        .then(
          (execution) => send('execution', { execution: toExecutionBody(execution) }),
          (error: unknown) => send('error', publicError(error)),
        )
        .finally(() => {
          clearInterval(probing);
          client.close();
        });
      // Platforms that compress would hold back what is to be read at once.
      const headers = { 'content-type': 'text/event-stream', 'content-encoding': 'identity', 'cache-control': 'no-cache, no-transform' };
      return new Response(client.readable, { headers });
    },
  };
}
