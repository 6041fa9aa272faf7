export interface Instruction {
  opcode: number;
  /** The type of an indirect call, or which one it is of those that begin with 0xfc. */
  first: number | undefined;
  bytes: Uint8Array;
}

/** Reads a WebAssembly module byte by byte. Every method throws an Error at the end of the bytes. */
export class WasmReader {
  readonly #bytes: Uint8Array;
  position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.position >= this.#bytes.length;
  }

  byte(): number {
    const byte = this.#bytes[this.position];
    if (byte === undefined) throw new Error('The module ends too early');
    this.position += 1;
    return byte;
  }

  bytes(length: number): Uint8Array {
    if (this.position + length > this.#bytes.length) throw new Error('The module ends too early');
    this.position += length;
    return this.#bytes.subarray(this.position - length, this.position);
  }

  /** A vector of bytes, with its length in front. */
  vector(): number[] {
    const start = this.position;
    this.bytes(this.unsigned());
    return [...this.#bytes.subarray(start, this.position)];
  }

  rest(): Uint8Array {
    return this.bytes(this.#bytes.length - this.position);
  }

  unsigned(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  }

  /** Signed and unsigned numbers of any width end at the same place. */
  #skipNumber(): void {
    while (this.byte() >= 0x80);
  }

  #skipNumbers(count: number): void {
    for (let left = count; left > 0; left -= 1) this.#skipNumber();
  }

  #skipLimits(): void {
    const flags = this.byte();
    this.#skipNumbers((flags & 1) === 1 ? 2 : 1);
  }

  /** What follows the kind of an import: a function's type, a table, a memory or a global. */
  skipImportDescription(kind: number): void {
    switch (kind) {
      case 0:
        this.#skipNumber();
        break;
      case 1:
        this.byte();
        this.#skipLimits();
        break;
      case 2:
        this.#skipLimits();
        break;
      case 3:
        this.bytes(2);
        break;
      default:
        throw new Error(`The module imports something of an unknown kind: ${kind}`);
    }
  }

  /** Reads one instruction with what belongs to it. */
  instruction(): Instruction {
    const start = this.position;
    const opcode = this.byte();
    const first = opcode === 0xfc || opcode === 0x11 ? this.#peek() : undefined;
    if (opcode === 0xfc) this.#skipBulk();
    else this.#skipImmediates(opcode);
    return { opcode, first, bytes: this.#bytes.subarray(start, this.position) };
  }

  #peek(): number {
    const { position } = this;
    const value = this.unsigned();
    this.position = position;
    return value;
  }

  #skipImmediates(opcode: number): void {
    if (opcode === 0x43) this.bytes(4);
    else if (opcode === 0x44) this.bytes(8);
    else this.#skipNumbers(this.#countNumbers(opcode));
  }

  /** How many numbers belong to an instruction. Those of a br_table and a typed select are counted by a number of their own. */
  #countNumbers(opcode: number): number {
    if (opcode === 0x0e) return this.unsigned() + 1;
    if (opcode === 0x1c) return this.unsigned();
    // Every load and store has an alignment and an offset, call_indirect a type and a table.
    if (opcode === 0x11 || (opcode >= 0x28 && opcode <= 0x3e)) return 2;
    if ((opcode >= 0x02 && opcode <= 0x04) || (opcode >= 0x20 && opcode <= 0x26) || (opcode >= 0x3f && opcode <= 0x42)) return 1;
    if ([0x0c, 0x0d, 0x10, 0xd0, 0xd2].includes(opcode)) return 1;
    if ((opcode >= 0x45 && opcode <= 0xc4) || [0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b, 0xd1].includes(opcode)) return 0;
    throw new Error(`The module has an unknown instruction: 0x${opcode.toString(16)}`);
  }

  #skipBulk(): void {
    const bulk = this.unsigned();
    if (bulk > 17) throw new Error(`The module has an unknown instruction: 0xfc ${bulk}`);
    if (bulk > 7) this.#skipNumbers([8, 10, 12, 14].includes(bulk) ? 2 : 1);
  }
}
