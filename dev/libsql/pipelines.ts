import { type Connection, openConnection } from './connection.ts';
import { HranaError, type StreamRequest, type StreamResponse, type WireError } from './protocol.ts';
import { createStream, type Stream, wireError } from './stream.ts';
import { createWriteLock } from './write-lock.ts';

export interface PipelineResponse {
  /** Names the stream in the next request; null when the stream is closed. */
  baton: string | null;
  base_url: null;
  results: ({ type: 'ok'; response: StreamResponse } | { type: 'error'; error: WireError })[];
}

export interface Pipelines {
  /** Rejects with a HranaError when the baton is not, or no longer, good. */
  run(request: { baton?: string | null | undefined; requests: StreamRequest[] }, signal: AbortSignal): Promise<PipelineResponse>;
  /** Rolls back what is open and closes the database. */
  close(): void;
}

interface Options {
  path: string;
  durable: boolean;
  /** A stream that is not used for so long is closed, and its transaction rolled back. */
  streamExpiryMs: number;
  busyTimeoutMs: number;
}

/** Runs pipelines of stream requests on one database file. */
export function createPipelines({ path, durable, streamExpiryMs, busyTimeoutMs }: Options): Pipelines {
  const lock = createWriteLock();
  const idle: Connection[] = [openConnection(path, { durable })];
  const streams = new Set<Stream>();
  const parked = new Map<string, { stream: Stream; expiry: NodeJS.Timeout }>();

  function openStream(): Stream {
    const stream = createStream({
      connection: idle.pop() ?? openConnection(path, { durable }),
      lock,
      busyTimeoutMs,
      giveBack(connection) {
        streams.delete(stream);
        if (connection.reset()) idle.push(connection);
        else connection.close();
      },
    });
    streams.add(stream);
    return stream;
  }

  function unpark(baton: string): Stream {
    const entry = parked.get(baton);
    if (entry === undefined) throw new HranaError('STREAM_EXPIRED', 'The stream has expired or its baton was used already');
    parked.delete(baton);
    clearTimeout(entry.expiry);
    return entry.stream;
  }

  function park(stream: Stream): string {
    const baton = crypto.randomUUID();
    const expiry = setTimeout(() => {
      parked.delete(baton);
      stream.close();
    }, streamExpiryMs);
    parked.set(baton, { stream, expiry });
    return baton;
  }

  return {
    async run({ baton, requests }, signal) {
      const stream = baton == null ? openStream() : unpark(baton);
      try {
        const results: PipelineResponse['results'] = [];
        for (const request of requests) {
          try {
            results.push({ type: 'ok', response: await stream.handle(request, signal) });
          } catch (error) {
            results.push({ type: 'error', error: wireError(error) });
          }
        }
        if (signal.aborted) stream.close();
        return { baton: stream.closed ? null : park(stream), base_url: null, results };
      } catch (error) {
        stream.close();
        throw error;
      }
    },
    close() {
      for (const { expiry } of parked.values()) clearTimeout(expiry);
      parked.clear();
      for (const stream of streams) stream.close();
      for (const connection of idle.splice(0)) connection.close();
    },
  };
}
