import type { JsonObject } from '../json.ts';

/** Writes the events of one response, numbered without gaps over all rounds. */
export interface EventWriter {
  /** The event as a frame. `data` is the text that it came with, when nothing but its number may have to change. */
  write(event: JsonObject, data?: string): string;
}

export function createEventWriter(): EventWriter {
  let nextNumber = 0;
  return {
    write(event, data) {
      const number = nextNumber;
      nextNumber += 1;
      const isAsItCame = data !== undefined && event.sequence_number === number && !/[\r\n]/.test(data);
      const name = typeof event.type === 'string' && /^[\w.-]+$/.test(event.type) ? `event: ${event.type}\n` : '';
      return `${name}data: ${isAsItCame ? data : JSON.stringify({ ...event, sequence_number: number })}\n\n`;
    },
  };
}
