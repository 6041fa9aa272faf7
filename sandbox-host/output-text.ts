import { CappedOutput } from '../src/contract/capped-output.ts';

/** Text of one output stream, decoded from UTF-8 across chunk borders (broken bytes become U+FFFD) and cut after `maxChars` UTF-16 units. */
export class OutputText {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #kept: CappedOutput;

  constructor(maxChars: number) {
    this.#kept = new CappedOutput(maxChars);
  }

  get text(): string {
    return this.#kept.text;
  }

  /** Whether more came than is kept. */
  get truncated(): boolean {
    return this.#kept.truncated;
  }

  /** Adds bytes and returns the text that came of them. */
  push(bytes: Uint8Array): string {
    return this.truncated ? '' : this.#kept.push(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Decodes what an unfinished character left, and returns it. */
  end(): string {
    return this.truncated ? '' : this.#kept.push(this.#decoder.decode());
  }
}
