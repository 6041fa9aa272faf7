import { formatWithOptions, inspect } from 'node-inspect-extracted';
import { escapeNuls, type Host } from '../../../src/quickjs/guest.ts';

/** What prints a table, a duration or a place in the code is left to Node. */
const LEFT_TO_NODE = ['table', 'time', 'timeEnd', 'timeLog', 'trace', 'profile', 'profileEnd', 'timeStamp', 'context', 'Console'];
const INDENT = 2;

/** Writes text as Node's streams do: what is half a character becomes U+FFFD. */
export function createWriter({ write, writeEscaped }: Host): (stream: 1 | 2, text: string) => void {
  return (stream, text) => {
    const whole = text.toWellFormed();
    if (whole.includes('\0')) writeEscaped(stream, escapeNuls(whole));
    else write(stream, whole);
  };
}

/** The console of Node: https://nodejs.org/docs/latest-v22.x/api/console.html. */
export function createConsole(host: Host): object {
  const write = createWriter(host);
  const counts = new Map<string, number>();
  let indent = '';

  function print(stream: 1 | 2, text: string): void {
    write(stream, `${indent === '' ? text : indent + text.replaceAll('\n', `\n${indent}`)}\n`);
  }
  const out = (...values: unknown[]) => print(1, formatWithOptions({}, ...values));
  const err = (...values: unknown[]) => print(2, formatWithOptions({}, ...values));

  const methods: Record<string, (...values: never[]) => void> = {
    log(...values: unknown[]) {
      out(...values);
    },
    warn(...values: unknown[]) {
      err(...values);
    },
    error(...values: unknown[]) {
      err(...values);
    },
    dir(value: unknown, options?: object) {
      print(1, inspect(value, { customInspect: false, ...options }));
    },
    assert(condition: unknown, ...values: unknown[]) {
      if (condition) return;
      if (typeof values[0] === 'string') err(`Assertion failed: ${values[0]}`, ...values.slice(1));
      else err('Assertion failed', ...values);
    },
    count(label: unknown = 'default') {
      const name = `${label}`;
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      out(`${name}: ${count}`);
    },
    countReset(label: unknown = 'default') {
      const name = `${label}`;
      if (!counts.delete(name)) host.needNode('console.countReset');
    },
    group(...values: unknown[]) {
      if (values.length > 0) out(...values);
      indent += ' '.repeat(INDENT);
    },
    groupEnd() {
      indent = indent.slice(0, -INDENT);
    },
  };
  const aliases = { debug: 'log', info: 'log', dirxml: 'log', groupCollapsed: 'group' } as const;
  for (const [name, original] of Object.entries(aliases)) methods[name] = methods[original] as (...values: never[]) => void;

  const console = Object.create({});
  for (const [name, value] of Object.entries(methods))
    Object.defineProperty(console, name, { value, writable: true, configurable: true, enumerable: true });
  for (const name of LEFT_TO_NODE)
    Object.defineProperty(console, name, { get: () => host.needNode(`console.${name}`), configurable: true, enumerable: true });
  Object.defineProperty(console, Symbol.toStringTag, { value: 'console', configurable: true });
  return console;
}
