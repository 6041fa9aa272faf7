import variant from '@jitl/quickjs-ng-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core';

/** Export of the metered module: an i32 that the host sets and the code counts down; below 0 the code traps. */
export const FUEL_EXPORT = 'fuel';
/** Export of the metered module: the id of the host's function that is told of rejected promises; 0 for none. */
export const TRACKER_EXPORT = 'rejectionTracker';

const PAGE_BYTES = 65_536;
/** What the module needs to start with. */
const INITIAL_PAGES = 256;
/** Of the 5 MiB that the module keeps for the stack of its C code. The engine's own check guards it; V8's stack is full long before. */
const C_STACK_BYTES = 4 * 1024 * 1024;

export interface QuickJs {
  context: QuickJSContext;
  memory: WebAssembly.Memory;
  fuel: WebAssembly.Global;
  /** Whether memory was asked for that the limit does not allow. */
  isOutOfMemory(): boolean;
  /** `tell` hears of each promise that is rejected while nobody handles it, and of each such one that is handled later. */
  onRejection(tell: (promise: QuickJSHandle, isHandled: boolean) => void): void;
}

/**
 * A memory that grows up to its maximum. To ask for more takes the fuel away, so that the program ends there instead of handling an error
 * that it would not get in Node. Emscripten first asks for more than it needs, and then for less.
 */
function createMemory(maxBytes: number, fuel: () => WebAssembly.Global) {
  const memory = new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum: Math.max(INITIAL_PAGES, Math.floor(maxBytes / PAGE_BYTES)) });
  const grow = memory.grow.bind(memory);
  let fuelBefore: number | undefined;
  Object.defineProperty(memory, 'grow', {
    value(pages: number): number {
      try {
        const before = grow(pages);
        if (fuelBefore !== undefined) fuel().value = fuelBefore;
        fuelBefore = undefined;
        return before;
      } catch (error) {
        fuelBefore ??= fuel().value;
        fuel().value = 0;
        throw error;
      }
    },
  });
  return { memory, isOutOfMemory: () => fuelBefore !== undefined };
}

/** A new instance of QuickJS, which shares nothing with any other. It is to be thrown away as it is, without disposing of anything in it. */
export async function openQuickJs(wasm: WebAssembly.Module, { memoryBytes }: { memoryBytes: number }): Promise<QuickJs> {
  let instance: WebAssembly.Instance | undefined;
  const fuel = () => instance?.exports[FUEL_EXPORT] as WebAssembly.Global;
  const { memory, isOutOfMemory } = createMemory(memoryBytes, fuel);
  const module = await newQuickJSWASMModuleFromVariant(
    newVariant(variant as unknown as QuickJSSyncVariant, {
      wasmMemory: memory,
      emscriptenModule: {
        instantiateWasm(imports, onSuccess) {
          instance = new WebAssembly.Instance(wasm, imports);
          onSuccess(instance);
          return instance.exports;
        },
      },
    }),
  );
  const runtime = module.newRuntime({ maxStackSizeBytes: C_STACK_BYTES });
  const context = runtime.newContext();

  const tracker = instance?.exports[TRACKER_EXPORT] as WebAssembly.Global;
  return {
    context,
    memory,
    fuel: fuel(),
    isOutOfMemory,
    onRejection(tell) {
      tracker.value = runtime.hostRefs.put(function (this: QuickJSHandle, handled?: QuickJSHandle) {
        tell(this, handled !== undefined);
      });
    },
  };
}
