import { EventSourceParserStream } from 'eventsource-parser/stream';
import { isJsonObject, type JsonObject } from '../src/json.ts';
import { CommandError, EXIT_CODE } from './exit-code.ts';

/** What happens while an execution runs: its program prints, and it ends. */
export type ExecutionEvent =
  | { type: 'output'; stream: 'stdout' | 'stderr'; text: string }
  | { type: 'execution'; execution: JsonObject }
  | { type: 'error'; code: string; message: string };

/** A character may take six bytes of JSON, and an execution holds all of its output. */
const MAX_EVENT_CHARS = 100 * 1024 * 1024;

function readData(data: string): JsonObject {
  try {
    const value: unknown = JSON.parse(data);
    if (isJsonObject(value)) return value;
  } catch {
    // Told below.
  }
  throw new CommandError(EXIT_CODE.unreachable, 'The gateway sent an event that cannot be read', { code: 'not_a_gateway' });
}

function readEvent(event: string | undefined, data: string): ExecutionEvent | undefined {
  switch (event) {
    case 'output': {
      const { stream, text } = readData(data);
      return typeof text === 'string' ? { type: 'output', stream: stream === 'stderr' ? 'stderr' : 'stdout', text } : undefined;
    }
    case 'execution': {
      const { execution } = readData(data);
      return isJsonObject(execution) ? { type: 'execution', execution } : undefined;
    }
    case 'error': {
      const { error, code } = readData(data);
      return { type: 'error', code: String(code), message: String(error) };
    }
    default:
      // Later gateways may tell more.
      return undefined;
  }
}

/** The events of a stream, as they come. */
export async function* readExecutionEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ExecutionEvent> {
  const events = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(new EventSourceParserStream({ maxBufferSize: MAX_EVENT_CHARS }));
  for await (const { event, data } of events) {
    const known = readEvent(event, data);
    if (known) yield known;
  }
}
