/** Text of one output stream, cut after `maxChars` UTF-16 units, never inside a surrogate pair. */
export class CappedOutput {
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

  /** Returns what is kept of the text. */
  push(text: string): string {
    if (this.#truncated) return '';
    const room = this.#maxChars - this.#text.length;
    this.#truncated = text.length > room;
    const splitsPair = this.#truncated && room > 0 && /[\uD800-\uDBFF]/.test(text.charAt(room - 1));
    const kept = this.#truncated ? text.slice(0, splitsPair ? room - 1 : room) : text;
    this.#text += kept;
    return kept;
  }
}
