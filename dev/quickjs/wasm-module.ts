import { writeName, writeSigned, writeUnsigned } from './wasm-encoding.ts';
import { type Instruction, WasmReader } from './wasm-reader.ts';

const SECTION = { type: 1, import: 2, function: 3, global: 6, export: 7, code: 10 } as const;
const KIND = { function: 0, global: 3 } as const;
export const I32 = 0x7f;
export const I64 = 0x7e;

interface Section {
  id: number;
  body: Uint8Array;
}

function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Calls `readOne` for each element of a section's vector. */
function forEachElement(body: Uint8Array, readOne: (reader: WasmReader) => void): void {
  const reader = new WasmReader(body);
  for (let left = reader.unsigned(); left > 0; left -= 1) readOne(reader);
}

const countOf = (body: Uint8Array): number => new WasmReader(body).unsigned();

/** A section's vector with more elements at its end. */
function append(body: Uint8Array, elements: readonly (readonly number[])[]): Uint8Array {
  const reader = new WasmReader(body);
  const count = reader.unsigned();
  return concat([Uint8Array.from(writeUnsigned(count + elements.length)), reader.rest(), Uint8Array.from(elements.flat())]);
}

/**
 * A WebAssembly module to which functions and globals are added at the end of what it has, so that nothing in it is renumbered.
 * Format: https://webassembly.github.io/spec/core/binary/. Its methods throw an Error for what is past WebAssembly 2.0, vectors among it.
 */
export class WasmModule {
  readonly #header: Uint8Array;
  readonly #sections: Section[] = [];
  readonly #types: number[][] = [];
  readonly #importedFunctions: string[] = [];
  readonly #addedTypes: number[][] = [];
  readonly #addedFunctions: { type: number; code: number[] }[] = [];
  readonly #addedGlobals: number[][] = [];
  readonly #addedExports: number[][] = [];
  #importedGlobals = 0;

  constructor(bytes: Uint8Array) {
    const reader = new WasmReader(bytes);
    this.#header = reader.bytes(8);
    while (!reader.isAtEnd) this.#sections.push({ id: reader.byte(), body: reader.bytes(reader.unsigned()) });
    forEachElement(this.#section(SECTION.type).body, (types) => {
      types.byte();
      this.#types.push([0x60, ...types.vector(), ...types.vector()]);
    });
    forEachElement(this.#section(SECTION.import).body, (imports) => {
      imports.vector();
      const [, ...name] = imports.vector();
      const kind = imports.byte();
      imports.skipImportDescription(kind);
      if (kind === KIND.function) this.#importedFunctions.push(new TextDecoder().decode(Uint8Array.from(name)));
      if (kind === KIND.global) this.#importedGlobals += 1;
    });
  }

  #section(id: number): Section {
    const section = this.#sections.find((candidate) => candidate.id === id);
    if (section === undefined) throw new Error(`The module has no section ${id}`);
    return section;
  }

  /** Index of a function that the module imports. */
  importedFunction(name: string): number {
    const index = this.#importedFunctions.indexOf(name);
    if (index < 0) throw new Error(`The module imports no function ${name}`);
    return index;
  }

  /** Index of the type of functions with these parameters and no result, which is added when the module has none. */
  typeOf(parameters: readonly number[]): number {
    const wanted = [0x60, parameters.length, ...parameters, 0];
    const found = [...this.#types, ...this.#addedTypes].findIndex((type) => type.join() === wanted.join());
    if (found >= 0) return found;
    this.#addedTypes.push(wanted);
    return this.#types.length + this.#addedTypes.length - 1;
  }

  /** Adds a function without locals and results; answers its index. */
  addFunction(parameters: readonly number[], code: readonly number[]): number {
    this.#addedFunctions.push({ type: this.typeOf(parameters), code: [0, ...code, 0x0b] });
    return this.#importedFunctions.length + countOf(this.#section(SECTION.function).body) + this.#addedFunctions.length - 1;
  }

  /** Adds a variable i32 and exports it; answers its index. */
  addExportedGlobal(name: string, initial: number): number {
    this.#addedGlobals.push([I32, 1, 0x41, ...writeSigned(initial), 0x0b]);
    const index = this.#importedGlobals + countOf(this.#section(SECTION.global).body) + this.#addedGlobals.length - 1;
    this.#addedExports.push([...writeName(name), KIND.global, ...writeUnsigned(index)]);
    return index;
  }

  /** Puts `prologue` before each function that the module came with, and in place of an instruction what `rewrite` makes of it, if anything; `place` counts the functions. */
  rewriteCode(prologue: readonly number[], rewrite: (instruction: Instruction, place: number) => readonly number[] | undefined): void {
    const section = this.#section(SECTION.code);
    let place = 0;
    const bodies: Uint8Array[] = [Uint8Array.from(writeUnsigned(countOf(section.body)))];
    forEachElement(section.body, (reader) => {
      const body = reader.bytes(reader.unsigned());
      const code = new WasmReader(body);
      for (let groups = code.unsigned(); groups > 0; groups -= 1) {
        code.unsigned();
        code.byte();
      }
      const out: number[] = [...body.subarray(0, code.position), ...prologue];
      while (!code.isAtEnd) {
        const instruction = code.instruction();
        for (const byte of rewrite(instruction, place) ?? instruction.bytes) out.push(byte);
      }
      bodies.push(Uint8Array.from(writeUnsigned(out.length)), Uint8Array.from(out));
      place += 1;
    });
    section.body = concat(bodies);
  }

  toBytes(): Uint8Array<ArrayBuffer> {
    const added: Partial<Record<number, number[][]>> = {
      [SECTION.type]: this.#addedTypes,
      [SECTION.function]: this.#addedFunctions.map(({ type }) => writeUnsigned(type)),
      [SECTION.global]: this.#addedGlobals,
      [SECTION.export]: this.#addedExports,
      [SECTION.code]: this.#addedFunctions.map(({ code }) => [...writeUnsigned(code.length), ...code]),
    };
    const sections = this.#sections.flatMap(({ id, body }) => {
      const whole = added[id] === undefined ? body : append(body, added[id]);
      return [Uint8Array.from([id, ...writeUnsigned(whole.length)]), whole];
    });
    return concat([this.#header, ...sections]);
  }
}
