import * as z from 'zod';
import { errorEvent, outputEvent } from '../contract/runs.ts';
import { type OnOutput, SkillError } from '../skills/define.ts';

/** The result is checked by whoever uses it. */
const anyEvent = z.discriminatedUnion('type', [outputEvent, errorEvent, z.looseObject({ type: z.literal('result') })]);
type LastEvent = Exclude<z.infer<typeof anyEvent>, z.infer<typeof outputEvent>>;

const unreadable = () => new SkillError('The sandbox host sent an answer that cannot be read');

function readEvent(line: string): z.infer<typeof anyEvent> {
  try {
    return anyEvent.parse(JSON.parse(line));
  } catch {
    throw unreadable();
  }
}

/**
 * Reads the events of a run, tells its output as it comes, and gives the last one. Rejects with a SkillError for what is no such stream or longer than `maxBytes`,
 * with another Error when the connection breaks before the end, and with the signal's reason when that fires.
 */
export async function readRunEvents(
  response: Response,
  { maxBytes, signal, onOutput }: { maxBytes: number; signal: AbortSignal; onOutput: OnOutput },
): Promise<LastEvent> {
  if (response.body === null) throw unreadable();
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const stop = () => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener('abort', stop);
  const decoder = new TextDecoder();
  let line = '';
  let length = 0;
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) throw new Error('The stream broke off');
      length += value.length;
      if (length > maxBytes) throw unreadable();
      const [first = '', ...others] = decoder.decode(value, { stream: true }).split('\n');
      line += first;
      for (const next of others) {
        const event = readEvent(line);
        if (event.type === 'result' || event.type === 'error') return event;
        onOutput(event.type, event.text);
        line = next;
      }
    }
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}
