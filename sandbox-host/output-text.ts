/** Text of one output stream, decoded from UTF-8 across chunk borders (broken bytes become U+FFFD) and cut after `maxChars` UTF-16 units. */
export class OutputText {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  readonly #maxChars: number;
  #text = '';
  #truncated = false;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  get text(): string {
    return this.#text;
  }

  /** Whether more came than is kept. */
  get truncated(): boolean {
    return this.#truncated;
  }

  /** Adds bytes and returns the text that came of them. */
  push(bytes: Uint8Array): string {
    return this.#truncated ? '' : this.#append(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Decodes what an unfinished character left, and returns it. */
  end(): string {
    return this.#truncated ? '' : this.#append(this.#decoder.decode());
  }

  #append(decoded: string): string {
    const room = this.#maxChars - this.#text.length;
    if (decoded.length <= room) {
      this.#text += decoded;
      return decoded;
    }
    this.#truncated = true;
    const splitsPair = room > 0 && /[\uD800-\uDBFF]/.test(decoded.charAt(room - 1));
    const kept = decoded.slice(0, splitsPair ? room - 1 : room);
    this.#text += kept;
    return kept;
  }
}
