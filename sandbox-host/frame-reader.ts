import type { OutputStream } from '../src/contract/runs.ts';

const HEADER_BYTES = 8;

/**
 * Takes apart the attach stream of the Docker Engine: frames of `[stream, 0, 0, 0, length as 32 bits, big endian]` and the payload, where stream 1 is
 * stdout and 2 is stderr. https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container/operation/ContainerAttach
 */
export class FrameReader {
  readonly #onOutput: (stream: OutputStream, bytes: Buffer) => void;
  #header: Buffer = Buffer.alloc(0);
  #stream: OutputStream = 'stdout';
  #left = 0;

  constructor(onOutput: (stream: OutputStream, bytes: Buffer) => void) {
    this.#onOutput = onOutput;
  }

  push(chunk: Buffer): void {
    let bytes = chunk;
    while (bytes.length > 0) {
      if (this.#left === 0) {
        const missing = HEADER_BYTES - this.#header.length;
        this.#header = Buffer.concat([this.#header, bytes.subarray(0, missing)]);
        bytes = bytes.subarray(missing);
        if (this.#header.length < HEADER_BYTES) return;
        this.#stream = this.#header[0] === 2 ? 'stderr' : 'stdout';
        this.#left = this.#header.readUInt32BE(4);
        this.#header = Buffer.alloc(0);
      } else {
        const part = bytes.subarray(0, this.#left);
        this.#left -= part.length;
        this.#onOutput(this.#stream, part);
        bytes = bytes.subarray(part.length);
      }
    }
  }
}
