import type { JsonObject } from '../json.ts';

export type GeminiFraming = 'sse' | 'json-array';

/** Writes the chunks of one stream. */
export interface ChunkWriter {
  /** A chunk, and the end of the stream behind it when it is the last one. */
  write(chunk: JsonObject, isLast?: boolean): string;
  /** What is written after a burst of chunks, so that `idle` is harmless. */
  rest(): string;
  /** What may be written at any time while the stream is silent. */
  readonly idle: string;
}

/**
 * Server-sent events as all of Google's clients read them. Some of them take a comment for a broken event, and older ones even an empty
 * line, but all skip white space between `data:` and its JSON. So a silent stream rests within the next event, and the silence becomes a
 * part of it. Before the first event an empty line does the least harm.
 */
function createEventWriter(): ChunkWriter {
  let isOpen = false;
  return {
    write(chunk) {
      const start = isOpen ? '' : 'data: ';
      isOpen = false;
      return `${start}${JSON.stringify(chunk)}\n\n`;
    },
    rest() {
      if (isOpen) return '';
      isOpen = true;
      return 'data: ';
    },
    get idle() {
      return isOpen ? ' ' : '\n\n';
    },
  };
}

/** One JSON array that grows, as streamGenerateContent answers without `alt=sse`. */
function createArrayWriter(): ChunkWriter {
  let isOpen = false;
  return {
    write(chunk, isLast = false) {
      const start = isOpen ? ',\r\n' : '[';
      isOpen = true;
      return `${start}${JSON.stringify(chunk)}\n${isLast ? ']\n' : ''}`;
    },
    rest: () => '',
    idle: '\n',
  };
}

export const createChunkWriter = (framing: GeminiFraming): ChunkWriter => (framing === 'sse' ? createEventWriter() : createArrayWriter());
