import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { buildGuest, buildWasm, GUEST_FILE, WASM_FILE } from '../../dev/quickjs/build.ts';
import { WasmModule } from '../../dev/quickjs/wasm-module.ts';

describe('what is made of QuickJS', () => {
  it('is what its sources give now; else run: npx node dev/quickjs/build.ts', async () => {
    expect(readFileSync(WASM_FILE).equals(buildWasm())).toBe(true);
    expect(readFileSync(GUEST_FILE, 'utf8')).toBe(await buildGuest());
  });

  it('imports what it did before: no way to the outside was added', () => {
    const imports = WebAssembly.Module.imports(new WebAssembly.Module(buildWasm()));
    expect(imports.map(({ kind }) => kind).filter((kind) => kind !== 'function')).toEqual(['memory']);
    expect(imports).toHaveLength(21);
  });
});

describe('a module that is taken apart', () => {
  const header = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const sections = [...[1, 4, 1, 0x60, 0, 0], ...[2, 1, 0], ...[3, 2, 1, 0], ...[6, 1, 0], ...[7, 5, 1, 1, 0x66, 0, 0]];
  const moduleOf = (...code: number[]) =>
    new WasmModule(Uint8Array.from([...header, ...sections, 10, code.length + 4, 1, code.length + 2, 0, ...code, 0x0b]));

  it('gets functions, globals and code of ours', () => {
    const module = moduleOf(0x01);
    const global = module.addExportedGlobal('count', 40);
    const added = module.addFunction([], [0x23, global, 0x41, 2, 0x6a, 0x24, global]);
    module.rewriteCode([], ({ opcode }) => (opcode === 0x01 ? [0x10, added] : undefined));
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.toBytes()));
    (exports.f as () => void)();
    expect((exports.count as WebAssembly.Global).value).toBe(42);
  });

  it.each([
    [[0xfd, 0], 'The module has an unknown instruction: 0xfd'],
    [[0xfc, 18], 'The module has an unknown instruction: 0xfc 18'],
    [[0x41, 0x80], 'The module ends too early'],
  ])('is refused when its code is %j', (code, message) => {
    const module =
      code[0] === 0x41 ? new WasmModule(Uint8Array.from([...header, ...sections, 10, 6, 1, 4, 0, ...code, 0x80])) : moduleOf(...code);
    expect(() => module.rewriteCode([], () => undefined)).toThrow(message);
  });

  it('is refused when it lacks what is looked for', () => {
    expect(() => moduleOf(0x01).importedFunction('t')).toThrow('The module imports no function t');
    expect(() => new WasmModule(Uint8Array.from([...header, 1, 9]))).toThrow('The module ends too early');
    expect(() => new WasmModule(Uint8Array.from(header))).toThrow('The module has no section 1');
  });
});
