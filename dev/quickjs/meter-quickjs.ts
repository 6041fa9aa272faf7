import { FUEL_EXPORT, TRACKER_EXPORT } from '../../src/quickjs/open-quickjs.ts';
import { writeSigned, writeUnsigned } from './wasm-encoding.ts';
import { I32, I64, WasmModule } from './wasm-module.ts';

/** A bulk copy or fill costs one unit for so many bytes, as a power of two. */
const BULK_SHIFT = 6;
const INDIRECT_CALL = 0x11;
const LOOP = 0x03;
const LOAD = 0x28;
const BULK = 0xfc;
const COPY = 10;
const FILL = 11;

/** Code that takes what the instructions of `amount` leave on the stack off the fuel, and traps when there is none left. */
const charge = (fuel: readonly number[], amount: readonly number[]): number[] => [
  ...[0x23, ...fuel, ...amount, 0x6b, 0x24, ...fuel],
  ...[0x23, ...fuel, 0x41, 0x00, 0x48, 0x04, 0x40, 0x00, 0x0b],
];

/**
 * Makes the module count its work, so that a host without a clock can bound it: each turn of a loop and each call of a function takes one
 * unit of the exported global, a bulk memory instruction one more for 64 bytes. So it holds for all that is written in C too: regular
 * expressions, big integers, array methods on a length without end. Nothing inside can catch the trap that follows.
 */
function addFuel(module: WasmModule): void {
  const fuel = writeUnsigned(module.addExportedGlobal(FUEL_EXPORT, 2_147_483_647));
  const step = charge(fuel, [0x41, 1]);
  const payForBytes = charge(fuel, [0x20, 2, 0x41, ...writeSigned(BULK_SHIFT), 0x76]);
  const bulk = (instruction: number[]) =>
    writeUnsigned(module.addFunction([I32, I32, I32], [...payForBytes, 0x20, 0, 0x20, 1, 0x20, 2, ...instruction]));
  const copy = bulk([BULK, COPY, 0, 0]);
  const fill = bulk([BULK, FILL, 0]);
  module.rewriteCode(step, ({ opcode, first, bytes }) => {
    if (opcode === LOOP) return [...bytes, ...step];
    if (opcode === BULK && first === COPY) return [0x10, ...copy];
    if (opcode === BULK && first === FILL) return [0x10, ...fill];
    return undefined;
  });
}

/** Where a JSRuntime keeps its tracker of rejected promises. */
const TRACKER_OFFSET = 180;
/** Emscripten's stack pointer is the first global. */
const STACK_POINTER = 0;
/** Room for a JSValue on the stack, in the alignment that the stack has. */
const ROOM = 16;

/**
 * Lets the host hear of rejected promises that nobody handles. QuickJS tells a C function of (context, promise, reason, handled, opaque),
 * by the only indirect calls of that type, if its runtime has such a function; its binding for JavaScript has no way to set one. In its
 * place stands a function that calls the host as QuickJS calls any function of it: the promise is `this`, an argument is there when it is
 * handled after all, and the exported global has the id of the host's function.
 */
function addRejectionTracker(module: WasmModule, hostCall: string): void {
  const id = writeUnsigned(module.addExportedGlobal(TRACKER_EXPORT, 0));
  const parameters = [I32, I64, I64, I32, I32];
  const type = module.typeOf(parameters);
  const moveStack = (operation: number) => [0x23, STACK_POINTER, 0x41, ROOM, operation, 0x24, STACK_POINTER];
  const room = [0x23, STACK_POINTER];
  const callHost = [0x20, 0, ...room, 0x20, 3, ...room, 0x23, ...id, 0x10, ...writeUnsigned(module.importedFunction(hostCall)), 0x1a];
  // The last parameter is the index of the function that the indirect call would have called.
  const tracker = module.addFunction(
    [...parameters, I32],
    [0x23, ...id, 0x45, 0x04, 0x40, 0x0f, 0x0b, ...moveStack(0x6b), ...room, 0x20, 1, 0x37, 3, 0, ...callHost, ...moveStack(0x6a)],
  );
  const places = new Set<number>();
  module.rewriteCode([], ({ opcode, first }, place) => {
    if (opcode !== INDIRECT_CALL || first !== type) return undefined;
    places.add(place);
    return [0x10, ...writeUnsigned(tracker)];
  });
  let checks = 0;
  const loadTracker = [LOAD, 2, ...writeUnsigned(TRACKER_OFFSET)].join();
  module.rewriteCode([], ({ bytes }, place) => {
    if (!places.has(place) || bytes.join() !== loadTracker) return undefined;
    checks += 1;
    // Whether there is a tracker: always.
    return [0x1a, 0x41, 1];
  });
  if (places.size !== 2 || checks !== 2)
    throw new Error(`QuickJS tells of rejections in ${places.size} places, of which ${checks} are known`);
}

/** QuickJS as the worker runs it. `hostCall` is the import by which it calls a function of the host. */
export function meterQuickJs(bytes: Uint8Array, hostCall: string): Uint8Array<ArrayBuffer> {
  const module = new WasmModule(bytes);
  addRejectionTracker(module, hostCall);
  addFuel(module);
  return module.toBytes();
}
