/** At most `maxBytes` of a response's body; the rest is not read. Rejects with the signal's reason when it fires on the way. */
export async function readBytes(
  response: Response,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<{ bytes: Uint8Array; truncated: boolean }> {
  if (response.body === null) return { bytes: new Uint8Array(), truncated: false };
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const stop = () => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener('abort', stop);
  try {
    const chunks: Uint8Array[] = [];
    let length = 0;
    let truncated = false;
    while (!truncated) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) break;
      truncated = length + value.length > maxBytes;
      chunks.push(value.subarray(0, maxBytes - length));
      length = Math.min(length + value.length, maxBytes);
    }
    return { bytes: concatenate(chunks, length), truncated };
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}

function concatenate(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
