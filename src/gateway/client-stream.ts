/** The stream that a client reads. */
export interface ClientStream {
  readable: ReadableStream<Uint8Array>;
  /** A promise, to wait for, when the client has yet to take what came before. Does nothing once the client has left. */
  write(text: string): Promise<void> | undefined;
  /** Writes without ending the silence, unless the client has not taken what came before. */
  probe(text: string): void;
  close(): void;
  /** Breaks the connection off, so that what was written does not look complete. */
  fail(error: unknown): void;
  /** Milliseconds since something was last written. */
  silentMs(): number;
}

const HIGH_WATER_CHUNKS = 16;
const HIGH_WATER_CHARS = 64 * 1024;

/**
 * Creates a stream with back-pressure; `onLeave` is called when the client goes before the end. Handing a chunk to the runtime costs far
 * more than making it, so what comes in the same millisecond as an earlier chunk is gathered and goes out a millisecond later.
 */
export function createClientStream(onLeave: () => void, now: () => number): ClientStream {
  const encoder = new TextEncoder();
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let open = true;
  let waiting: (() => void)[] = [];
  let lastWrite = now();
  let lastSent = 0;
  let gathered = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wakeAll = () => {
    for (const wake of waiting) wake();
    waiting = [];
  };
  const readable = new ReadableStream<Uint8Array>(
    {
      start(created) {
        controller = created;
      },
      pull: wakeAll,
      cancel() {
        open = false;
        clearTimeout(timer);
        wakeAll();
        onLeave();
      },
    },
    { highWaterMark: HIGH_WATER_CHUNKS },
  );
  const hasRoom = () => (controller.desiredSize ?? 0) > 0;

  function send(): void {
    clearTimeout(timer);
    timer = undefined;
    if (!open || gathered === '') return;
    lastSent = now();
    controller.enqueue(encoder.encode(gathered));
    gathered = '';
  }

  return {
    readable,
    write(text) {
      lastWrite = now();
      if (!open) return undefined;
      gathered += text;
      if (lastWrite !== lastSent || gathered.length > HIGH_WATER_CHARS) send();
      else timer ??= setTimeout(send, 1);
      return hasRoom() ? undefined : new Promise((resolve) => waiting.push(resolve));
    },
    probe(text) {
      if (open && hasRoom() && gathered === '') controller.enqueue(encoder.encode(text));
    },
    close() {
      send();
      if (open) controller.close();
      open = false;
    },
    fail(error) {
      clearTimeout(timer);
      if (open) controller.error(error);
      open = false;
      wakeAll();
    },
    silentMs: () => now() - lastWrite,
  };
}
