const EMPTY: Buffer = Buffer.alloc(0);

/** Length of the longest end of `data` that a marker starts with. */
function partialMarker(data: Buffer, marker: Buffer): number {
  for (let length = Math.min(marker.length - 1, data.length); length > 0; length -= 1) {
    if (data.subarray(data.length - length).equals(marker.subarray(0, length))) return length;
  }
  return 0;
}

/** Splits a byte stream at a marker, also where chunks cut the marker. Holds back no more than what may be the marker's beginning. */
export class MarkerSplitter {
  readonly #marker: Buffer;
  readonly #onPart: (bytes: Buffer, markersBefore: number) => void;
  #held = EMPTY;
  #markers = 0;

  /** `onPart` gets the bytes between markers, piece by piece, with the number of markers before them; an empty piece follows each marker. */
  constructor(marker: string, onPart: (bytes: Buffer, markersBefore: number) => void) {
    this.#marker = Buffer.from(marker);
    this.#onPart = onPart;
  }

  push(chunk: Buffer): void {
    let data = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    for (let at = data.indexOf(this.#marker); at >= 0; at = data.indexOf(this.#marker)) {
      if (at > 0) this.#onPart(data.subarray(0, at), this.#markers);
      this.#markers += 1;
      this.#onPart(EMPTY, this.#markers);
      data = data.subarray(at + this.#marker.length);
    }
    const held = partialMarker(data, this.#marker);
    if (data.length > held) this.#onPart(data.subarray(0, data.length - held), this.#markers);
    this.#held = held === 0 ? EMPTY : Buffer.from(data.subarray(data.length - held));
  }

  /** Hands out what was held back. */
  end(): void {
    if (this.#held.length > 0) this.#onPart(this.#held, this.#markers);
    this.#held = EMPTY;
  }
}
