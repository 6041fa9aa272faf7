/** The stream that a client reads. */
export interface ClientStream {
  readable: ReadableStream<Uint8Array>;
  /** Resolves when the client has taken enough of what came before. Does nothing once the client has left. */
  write(text: string): Promise<void>;
  /** Writes without ending the silence, unless the client has not taken what came before. */
  probe(text: string): void;
  close(): void;
  /** Milliseconds since something was last written. */
  silentMs(): number;
}

const HIGH_WATER_CHUNKS = 16;

/** Creates a stream with back-pressure; `onLeave` is called when the client goes before the end. */
export function createClientStream(onLeave: () => void, now: () => number): ClientStream {
  const encoder = new TextEncoder();
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let open = true;
  let waiting: (() => void)[] = [];
  let lastWrite = now();
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
        wakeAll();
        onLeave();
      },
    },
    { highWaterMark: HIGH_WATER_CHUNKS },
  );
  async function send(text: string): Promise<void> {
    if (!open) return;
    controller.enqueue(encoder.encode(text));
    if ((controller.desiredSize ?? 0) <= 0) await new Promise<void>((resolve) => waiting.push(resolve));
  }

  return {
    readable,
    write(text) {
      lastWrite = now();
      return send(text);
    },
    probe(text) {
      if (open && (controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(text));
    },
    close() {
      if (open) controller.close();
      open = false;
    },
    silentMs: () => now() - lastWrite,
  };
}
