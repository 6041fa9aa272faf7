/** Node's inspector looks at these when it is loaded. They are gone when the program runs. */
Object.assign(globalThis, { Atomics: {}, URL: class URL {} });

export {};
