import { describe, expect, it } from 'vitest';
import type { DirectLimits } from '../../src/quickjs/direct-run.ts';
import { createProgramRunner } from '../../src/quickjs/run-program.ts';
import { loadQuickJs } from '../support/load-quickjs.ts';

const wasm = await loadQuickJs();
const runProgram = createProgramRunner(wasm, Math.random);
const LIMITS: DirectLimits = { fuel: 30_000_000, memoryBytes: 32 * 1024 * 1024, maxOutputChars: 1_000 };
const run = (code: string, limits: Partial<DirectLimits> = {}) => runProgram(code, { ...LIMITS, ...limits });

describe('what bounds a program', () => {
  it.each([
    ['a loop', 'for (;;);'],
    ['a loop that catches everything', 'for (;;) try { for (;;); } catch {} finally { continue }'],
    ['a loop of microtasks', 'const again = () => queueMicrotask(again); again()'],
    ['a loop of await', 'for (;;) await null'],
    ['calls without end', 'const f = (n) => (n < 2 ? n : f(n - 1) + f(n - 2)); f(90)'],
    ['a generator without end', 'for (const x of (function* () { for (;;) yield 1 })());'],
    ['a regular expression that backtracks', '/^(a+)+$/.test("a".repeat(40) + "b")'],
    ['one that backtracks over alternatives', '/(x|x|x|x)*y/.exec("x".repeat(40))'],
    ['one in replace', '"a".repeat(40).replace(/(a*)*b/g, "")'],
    ['array methods on a length without end', '[].indexOf.call({ length: 2 ** 53 - 1 }, 1)'],
    ['callbacks that are never called', '[].forEach.call({ length: 2 ** 53 - 1 }, () => {})'],
    ['a sparse array', 'new Array(2 ** 32 - 1).includes(1)'],
    ['big integers', 'let n = 3n; for (;;) n *= n'],
    ['the text of a big integer', 'let n = 7n ** 200000n; for (;;) String(n)'],
    ['copies of a long string', 'const s = "x".repeat(1e6); for (;;) s.slice(1).toUpperCase()'],
    ['copies of a buffer', 'const a = new Uint8Array(8e6); for (;;) a.set(a.subarray(1))'],
    ['fills of a buffer', 'const a = new Uint8Array(8e6); for (;;) a.fill(1)'],
    ['sorting', 'const a = Array.from({ length: 200000 }, (_, i) => -i); for (;;) a.toSorted()'],
    ['printing', 'for (;;) console.log("x".repeat(1000))'],
    ['rejections that are handled', 'for (;;) { const p = Promise.reject(1); p.catch(() => {}) }'],
    ['printing nothing', 'for (;;) process.stdout.write("")'],
    ['printing NULs', 'for (;;) process.stdout.write("\\0".repeat(1e5))'],
    ['a getter of what is printed', 'console.log({ get [Symbol.toStringTag]() { for (;;); } })'],
    ['custom inspection of an error', 'throw { [Symbol.for("nodejs.util.inspect.custom")]() { for (;;); } }'],
    ['code that is long to read', 'for (;;) new Function("a".repeat(1e5))'],
  ])('fuel: %s', async (_, code) => {
    expect(await run(code)).toMatchObject({ end: { kind: 'fuel' } });
  });

  it('takes the same fuel each time', async () => {
    const code = 'let n = 0; try { for (;;) { n += 1; if (n % 1000 === 0) console.log(n) } } finally { console.log("never") }';
    const first = await run(code, { fuel: 2_000_000 });
    expect(first.end.kind).toBe('fuel');
    expect(first.stdout).toMatch(/^1000\n/);
    expect(await run(code, { fuel: 2_000_000 })).toEqual(first);
    expect((await run(code, { fuel: 4_000_000 })).stdout.length).toBeGreaterThan(first.stdout.length);
  });

  it.each([
    ['an array', 'const a = []; for (;;) a.push({})'],
    ['a string', '"x".repeat(2 ** 28)'],
    ['a string that doubles', 'let s = "x"; for (;;) s = (s + s).toUpperCase()'],
    ['a buffer', 'new ArrayBuffer(2 ** 30)'],
    ['what catches the error', 'let a = []; for (;;) try { a.push(new Uint8Array(1e6)) } catch { console.log("caught") }'],
    ['fill', 'new Array(2 ** 31).fill(0)'],
    ['join', 'new Array(2 ** 27).join("long separator")'],
    ['a JSON bomb', 'let o = { a: "x".repeat(1000) }; for (let i = 0; i < 30; i += 1) o = [o, o]; JSON.stringify(o)'],
    ['a replacement that grows', '"x".repeat(1e5).replace(/x/g, "$`")'],
    ['closures', 'let f = () => 0; for (;;) { const g = f; f = () => g }'],
    ['spread', 'const a = Array(1e6).fill(1); [...a, ...a, ...a, ...a, ...a]'],
  ])('memory: %s', async (_, code) => {
    const result = await run(code, { fuel: 1_000_000_000 });
    expect(result).toMatchObject({ end: { kind: 'memory' }, stdout: '' });
  });

  it('gives the memory that it says', async () => {
    const code = 'const a = new Uint8Array(12e6).fill(7); console.log(a.at(-1))';
    expect(await run(code)).toMatchObject({ end: { kind: 'exited', exitCode: 0 }, stdout: '7\n' });
    expect(await run(code, { memoryBytes: 17_000_000 })).toMatchObject({ end: { kind: 'memory' } });
  });

  it.each([
    ['a function', '(function f() { f() })()'],
    ['what catches the error', '(function f() { try { f() } catch { console.log("caught") } })()'],
    ['a getter', 'const o = { get x() { return this.x } }; o.x'],
    ['JSON', 'let o = []; for (let i = 0; i < 1e5; i += 1) o = [o]; JSON.stringify(o)'],
    ['a proxy', 'const p = new Proxy({}, { get: (target, key, receiver) => receiver[key] }); p.x'],
    ['toString', 'const o = { toString() { return "" + o } }; String(o)'],
    ['brackets', 'eval("(".repeat(1e5))'],
    ['a regular expression', 'new RegExp("(".repeat(1e5))'],
    ['a chain of bound functions', 'let f = () => 1; for (let i = 0; i < 1e5; i += 1) f = f.bind(null); f()'],
  ])('the stack: %s', async (_, code) => {
    const { end, stdout, stderr } = await run(code);
    // The engine finds some of them itself before its stack is full, and says what Node says.
    if (end.kind === 'exited')
      expect([end.exitCode, stderr]).toEqual([1, expect.stringMatching(/RangeError: Maximum call stack|SyntaxError/)]);
    else expect(['stack', 'fuel', 'memory']).toContain(end.kind);
    expect(stdout).toBe('');
  });

  it('output, of each stream, and not inside a character', async () => {
    const code = 'console.error("e".repeat(5000)); process.stdout.write("a" + "😀".repeat(2000)); console.log("more")';
    const { stdout, stderr, truncated, end } = await run(code);
    expect([stdout, stderr, truncated, end]).toEqual([`a${'😀'.repeat(499)}`, 'e'.repeat(1_000), true, { kind: 'exited', exitCode: 0 }]);
    expect(await run('process.stdout.write("x".repeat(1000))')).toMatchObject({ stdout: 'x'.repeat(1_000), truncated: false });
  });
});

describe('an error that resists', () => {
  it.each([
    ['throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })', /^Uncaught /],
    ['throw { get [Symbol.toStringTag]() { throw new Error("in tag") } }', /^Uncaught \{/],
    ['Error.prepareStackTrace = () => { throw 1 }; null.x', /^Uncaught .*TypeError/],
    ['const e = new Error("x"); e.stack = undefined; throw e', /^Uncaught \[Error: x\]/],
    ['throw Object.freeze(new Error("frozen"))', /^Uncaught Error: frozen\n/],
    ['throw Symbol("s")', /^Uncaught Symbol\(s\)/],
    ['Promise.reject(null)', /reason "null"/],
  ])('%s', async (code, stderr) => {
    expect(await run(code)).toMatchObject({ end: { kind: 'exited', exitCode: 1 }, stdout: '', stderr: expect.stringMatching(stderr) });
  });
});

describe('what ends a program because only Node has it', () => {
  it.each([
    ['Buffer.from("x")', 'Buffer'],
    ['typeof Buffer', 'Buffer'],
    ['"fetch" in globalThis && fetch("https://example.com")', 'fetch'],
    ['globalThis["fet" + "ch"]', 'fetch'],
    ['try { require("fs") } catch { console.log("caught") }', 'require'],
    ['setTimeout(() => {}, 1)', 'setTimeout'],
    ['process.env.HOME', 'process.env'],
    ['process.version', 'process.version'],
    ['console.log(process)', 'process'],
    ['process.stdout.isTTY', 'process.stdout.isTTY'],
    ['process.stdout.write(new Uint8Array(1))', 'process.stdout.write'],
    ['process.exit(1.5)', 'process.exit(number)'],
    ['console.table([1])', 'console.table'],
    ['console.time()', 'console.time'],
    ['(1).toLocaleString()', 'Number.prototype.toLocaleString'],
    ['"a".localeCompare("b")', 'String.prototype.localeCompare'],
    ['new Intl.NumberFormat()', 'Intl'],
    ['new Date().toLocaleDateString()', 'Date.prototype.toLocaleDateString'],
    ['RegExp.$1', 'RegExp.$1'],
    ['console.log(new Map([[1, 2]]).entries())', 'the entries of an iterator'],
    ['import fs from "node:fs"', 'the module "node:fs"'],
    ['import { readFile } from "fs/promises"; console.log(readFile)', 'the module "fs/promises"'],
    ['await import("os")', 'the module "os"'],
    ['import("os").catch(() => {}).then(() => console.log("went on"))', 'the module "os"'],
    ['new WebAssembly.Module(new Uint8Array())', 'WebAssembly'],
    ['new SharedArrayBuffer(1)', 'SharedArrayBuffer'],
  ])('%s', async (code, what) => {
    expect(await run(code)).toEqual({ end: { kind: 'node', what }, stdout: '', stderr: expect.any(String), truncated: false });
  });

  it('is told of a program that may only be wrong here', async () => {
    for (const code of ['let x: number = 1', 'console.log("never"); )', 'import x'])
      expect(await run(code)).toMatchObject({ end: { kind: 'syntax' }, stdout: '', stderr: expect.stringContaining('SyntaxError') });
    expect(await run('JSON.parse("{")')).toMatchObject({ end: { kind: 'exited', exitCode: 1 } });
    expect(await run('new Function("(")')).toMatchObject({ end: { kind: 'exited', exitCode: 1 } });
  });
});

describe('the way out', () => {
  it('is nowhere: no object of the program leads to the functions that it reaches us by, or to ours', async () => {
    const code = `
      const seen = new Set();
      const names = [];
      const visit = (value, path) => {
        if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value) || value === process) return;
        seen.add(value);
        for (const key of Reflect.ownKeys(value)) {
          const descriptor = Reflect.getOwnPropertyDescriptor(value, key);
          if (/host|guest|omniroute|engine/i.test(String(key))) names.push(path + '.' + String(key));
          visit(descriptor.value, path + '.' + String(key));
          visit(descriptor.get, path + '.' + String(key));
        }
        visit(Reflect.getPrototypeOf(value), path + '.__proto__');
      };
      visit(globalThis, 'globalThis');
      for (const f of [() => {}, async () => {}, function* () {}, async function* () {}]) visit(f, 'f');
      console.log(seen.size > 500, names.join());`;
    expect(await run(code, { fuel: 200_000_000, maxOutputChars: 10_000 })).toMatchObject({ stdout: 'true \n', stderr: '' });
  });

  it('is not in a stack, a caller or a thrown error', async () => {
    const code = `
      const texts = [];
      console.log({ get [Symbol.toStringTag]() { texts.push(new Error().stack); return 'x' } });
      console.log({ [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) {
        texts.push(new Error().stack, String(options.constructor.constructor('return this')() === globalThis), String(inspect.constructor('return this')() === globalThis));
        return 'y';
      } });
      console.log(texts.join('\\n'));`;
    const { stdout } = await run(code);
    expect(stdout).not.toMatch(/omniroute|wasm|node:|file:/);
    expect(stdout).toContain('true\ntrue\n');
  });

  it('leads to no global of the worker', async () => {
    const code = `
      const f = console.log.constructor('return Reflect.ownKeys(this).map(String).filter((k) => /caches|Deno|Bun|navigator|WorkerGlobalScope|self|window|env/i.test(k)).join()');
      console.log(f(), console.log.constructor === Function, process.exit.constructor === Function);`;
    expect(await run(code)).toMatchObject({ stdout: 'Navigator,navigator true true\n' });
  });

  it('leaves nothing behind for the next program', async () => {
    await run('globalThis.leak = 1; Array.prototype.leak = 2; Object.prototype.leak = 3; console.log = null; process.exitCode = 9');
    expect(await run('console.log(typeof leak, [].leak, {}.leak, process.exitCode)')).toMatchObject({
      end: { kind: 'exited', exitCode: 0 },
      stdout: 'undefined undefined undefined undefined\n',
    });
  });

  it('is not through what a program does to the built-ins', async () => {
    const code = `
      for (const owner of [Array, String, Map, Set, Promise, Object, Function, Error, RegExp])
        for (const key of Reflect.ownKeys(owner.prototype))
          if (key !== 'constructor') try { Object.defineProperty(owner.prototype, key, { get() { throw 'taken' }, set() {} }) } catch {}
      Promise.reject(1);
      console.log('x', { a: 1 });`;
    const { end } = await run(code);
    expect(['exited', 'fault']).toContain(end.kind);
    expect(await run('console.log(1)')).toMatchObject({ stdout: '1\n' });
  });
});

describe('random numbers', () => {
  const code = 'console.log(JSON.stringify(Array.from({ length: 1000 }, Math.random)))';
  const numbersOf = async (random: () => number): Promise<number[]> => {
    const { stdout } = await createProgramRunner(wasm, random)(code, { ...LIMITS, maxOutputChars: 100_000 });
    return JSON.parse(stdout) as number[];
  };

  it('come from the worker, and are others in each run', async () => {
    expect(await numbersOf(() => 0.25)).toEqual(await numbersOf(() => 0.25));
    expect(await numbersOf(() => 0.25)).not.toEqual(await numbersOf(() => 0.5));
    const [first, second] = [await run(code), await run(code)];
    expect(first.stdout).not.toBe(second.stdout);
  });

  it.each([0, 0.5, 0.999_999_999_9])('lie between 0 and 1, all over, when they start from %d', async (start) => {
    const numbers = await numbersOf(() => start);
    expect(new Set(numbers).size).toBe(1_000);
    for (const number of numbers) expect(number >= 0 && number < 1).toBe(true);
    for (let tenth = 0; tenth < 10; tenth += 1) {
      const share = numbers.filter((number) => Math.floor(number * 10) === tenth).length;
      expect(share).toBeGreaterThan(50);
      expect(share).toBeLessThan(170);
    }
  });
});
