import { GUEST_FILE } from '../../../src/quickjs/guest.ts';

/** What V8 says where QuickJS says something else; both stand for the same fault. */
const WORDINGS: readonly [RegExp, string][] = [
  [/^cannot read property '(.*)' of (null|undefined)$/s, "Cannot read properties of $2 (reading '$1')"],
  [/^cannot set property '(.*)' of (null|undefined)$/s, "Cannot set properties of $2 (setting '$1')"],
  [/^'.*' is read-only$/s, 'Assignment to constant variable.'],
  [/^(\S+) is not initialized$/, "Cannot access '$1' before initialization"],
];

function reword(message: string): string {
  for (const [pattern, wording] of WORDINGS) if (pattern.test(message)) return message.replace(pattern, wording);
  return message;
}

function describeFrame(site: NodeJS.CallSite): string {
  const name = site.getFunctionName();
  const file = site.getFileName() ?? null;
  const place = site.isNative() || file === null ? '<anonymous>' : `${file}:${site.getLineNumber()}:${site.getColumnNumber()}`;
  return name === null || name === '' || name === '<eval>' || name === '<anonymous>' ? `    at ${place}` : `    at ${name} (${place})`;
}

/** V8 leaves out the constructors of the error's own classes, which call each other when it is made. */
function withoutConstructors(error: Error, sites: readonly NodeJS.CallSite[]): NodeJS.CallSite[] {
  const names: unknown[] = [];
  for (let prototype = Object.getPrototypeOf(error); prototype !== null; prototype = Object.getPrototypeOf(prototype))
    names.push(Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value?.name);
  const first = sites.findIndex((site) => !names.includes(site.getFunctionName()));
  return sites.slice(first);
}

/** Makes errors and their stacks read as V8 writes them. See https://v8.dev/docs/stack-trace-api. */
export function installStacks(): void {
  const describe = Error.prototype.toString;
  const builtIn = new Set<unknown>([TypeError, ReferenceError]);
  Error.prepareStackTrace = (error: Error, sites: NodeJS.CallSite[]) => {
    const { message } = error;
    if (builtIn.has(error.constructor) && typeof message === 'string') {
      const wording = reword(message);
      if (wording !== message) Object.defineProperty(error, 'message', { value: wording, writable: true, configurable: true });
    }
    const frames = withoutConstructors(error, sites)
      .filter((site) => site.getFileName() !== GUEST_FILE)
      .map(describeFrame);
    // V8 writes the stack when it is first read, by which time a constructor has given the error its name. The engine would put what is
    // returned here into a property of its own, were that not taken already.
    let stack: unknown;
    let isWritten = false;
    Object.defineProperty(error, 'stack', {
      get() {
        if (!isWritten) stack = [describe.call(error), ...frames].join('\n');
        isWritten = true;
        return stack;
      },
      set(value: unknown) {
        stack = value;
        isWritten = true;
      },
    });
    return undefined;
  };
}
