import type { Host } from '../../../src/quickjs/guest.ts';
import { createWriter } from './console.ts';

/** Node's `process`, as far as it ends the program or writes; every other use of it needs Node itself. */
export function createProcess(host: Host): { process: object; exitCode(): number } {
  const write = createWriter(host);
  let exitCode: unknown;

  /** Node takes whole numbers and their decimal text, and refuses everything else. */
  function readCode(code: unknown): number {
    if (code === undefined || code === null) return 0;
    const number = typeof code === 'string' && code !== '' ? Number(code) : code;
    if (!Number.isInteger(number)) host.needNode(`process.exit(${typeof code})`);
    return Number(number) & 0xff;
  }

  const stream = (name: string, fd: 1 | 2) =>
    onlyWith(`process.${name}`, {
      write(text: unknown, ...others: unknown[]) {
        if (typeof text !== 'string' || others.length > 0) host.needNode(`process.${name}.write`);
        write(fd, text as string);
        return true;
      },
    });

  /** An object that has these properties alone, and for which everything else needs Node. */
  function onlyWith(name: string, known: object): object {
    const needNode = (what: string) => () => {
      host.needNode(what);
      return undefined as never;
    };
    const property = (key: string | symbol) => (typeof key === 'symbol' ? name : `${name}.${key}`);
    return new Proxy(known, {
      get: (target, key) => (Object.hasOwn(target, key) ? Reflect.get(target, key) : needNode(property(key))()),
      set: (target, key, value) => (Object.hasOwn(target, key) ? Reflect.set(target, key, value) : needNode(property(key))()),
      has: needNode(name),
      ownKeys: needNode(name),
      getPrototypeOf: needNode(name),
      setPrototypeOf: needNode(name),
      getOwnPropertyDescriptor: needNode(name),
      defineProperty: needNode(name),
      deleteProperty: needNode(name),
      preventExtensions: needNode(name),
      isExtensible: needNode(name),
    });
  }

  const process = onlyWith('process', {
    exit(code: unknown = exitCode) {
      host.exit(readCode(code));
    },
    get exitCode() {
      return exitCode;
    },
    set exitCode(code: unknown) {
      readCode(code);
      exitCode = code;
    },
    stdout: stream('stdout', 1),
    stderr: stream('stderr', 2),
  });
  return { process, exitCode: () => readCode(exitCode) };
}
