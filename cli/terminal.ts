import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';

/** A stream that people or programs read. */
export interface Output extends Writable {
  isTTY?: boolean;
  columns?: number;
}

/** What a command has of the world around it. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly fetch: typeof fetch;
  /** Fires at Ctrl-C, and when nobody reads the output any more. */
  readonly signal: AbortSignal;
}

/** Whoever read the output has left, as `head` does. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed';
}

const CLOSED = new Set(['EPIPE', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END']);

export const isClosedOutput = (error: unknown): boolean => CLOSED.has(String((error as NodeJS.ErrnoException | null)?.code));

/** Resolves once the text has gone out, so that what reads slowly is not outrun. Rejects with OutputClosed when nobody reads it. */
export function write(output: Output, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(text, (error) => {
      if (!error) resolve();
      else reject(isClosedOutput(error) ? new OutputClosed() : error);
    });
  });
}

/** Colours text where that is seen as colour (https://no-color.org). */
export function paint(terminal: Terminal, output: Output, style: Parameters<typeof styleText>[0], text: string): string {
  const isColoured = output.isTTY === true && !terminal.env.NO_COLOR && terminal.env.TERM !== 'dumb';
  return isColoured ? styleText(style, text, { validateStream: false }) : text;
}
