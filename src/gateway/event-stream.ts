import { createParser } from 'eventsource-parser';
import { AppError } from '../errors.ts';
import { readChunks } from './upstream.ts';

const MAX_EVENT_CHARS = 16 * 1024 * 1024;

/**
 * Reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) until the body ends, or
 * until `isOver` says that the last event has come: some servers then leave the connection open. What the events of one
 * network chunk give is written at once, so that a burst stays a burst.
 */
export async function readEventStream(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  onData: (data: string) => string,
  write: (text: string) => Promise<void> | undefined,
  isOver: () => boolean = () => false,
): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARS,
    onEvent: (event) => {
      if (!isOver()) text += onData(event.data);
    },
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') {
        throw new AppError('upstream_invalid', `The model provider sent an event of more than ${MAX_EVENT_CHARS} characters`);
      }
    },
  });
  const flush = () => {
    const events = text;
    text = '';
    return events === '' ? undefined : write(events);
  };
  const feed = (piece: string) => {
    try {
      parser.feed(piece);
    } catch (error) {
      // What came before the fault is the client's.
      void flush();
      throw error;
    }
    return flush();
  };
  await readChunks(body, signal, (chunk) => feed(decoder.decode(chunk, { stream: true })), isOver);
  if (isOver()) return;
  // A last event whose blank line is missing still counts, as providers that close early leave it out.
  await feed(`${decoder.decode()}\n\n`);
}
