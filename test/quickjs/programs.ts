export interface Program {
  name: string;
  code: string;
  /** What stderr says of the error that nobody catches. Without it stderr is the same in both, to the letter. */
  uncaught?: string;
}

/** Prints what the expressions give, one after the other. */
const print = (...expressions: string[]): string => expressions.map((expression) => `console.log(${expression});`).join('\n');

const VALUES: Program[] = [
  {
    name: 'primitives',
    code: print(
      '1',
      '-0',
      '0.1 + 0.2',
      '1e21',
      '1/0',
      'NaN',
      '10n',
      'true',
      'null',
      'undefined',
      '"text"',
      'Symbol("s")',
      'Symbol.iterator',
    ),
  },
  { name: 'several values', code: print('1, "a", null, [1]', '', '"a", "b"', '[], {}, ""') },
  {
    name: 'primitives in objects',
    code: print('{a: 1, b: -0, c: 1n, d: "it\'s", e: \'a"b\', f: undefined, g: null, h: Symbol("x"), [Symbol("k")]: 1, "a-b": 2}'),
  },
  { name: 'strings with odd characters', code: print(String.raw`["\n\t\\", "\x00\x1b", "é😀", "\ud800", "a'b\"c", "a'b\"c${'`'}"]`) },
  {
    name: 'boxed primitives',
    code: print('new Number(3)', 'new String("abc")', 'new Boolean(false)', 'Object(1n)', 'Object(Symbol("a"))'),
  },
  {
    name: 'arrays',
    code: print(
      '[]',
      '[1, 2, 3]',
      '[1, , 3]',
      '[, , ]',
      '[[[[1]]]]',
      '["a", "b"]',
      '[undefined, null]',
      'Array.from({length: 150}, (_, i) => i)',
      'Object.assign([1], {x: 2})',
    ),
  },
  {
    name: 'long and wide',
    code: print(
      '"x".repeat(200)',
      '["x".repeat(100)]',
      'Array(120).fill("ab")',
      '{a: "x".repeat(80), b: "y".repeat(10)}',
      'Object.fromEntries(Array.from({length: 30}, (_, i) => ["key" + i, i * 1000]))',
      '"x".repeat(20000).length',
    ),
  },
  { name: 'nesting', code: print('{a: {b: {c: {d: {}}}}}', '{a: {b: {c: {}}}}', '[[[[]]]]', '{a: [{b: [{c: 1}]}]}') },
  {
    name: 'cycles',
    code: 'const a = {name: "a"}; a.self = a; a.list = [a, {a}]; console.log(a); const m = new Map(); m.set(m, m); console.log(m);',
  },
  {
    name: 'maps and sets',
    code: print(
      'new Map()',
      'new Map([[1, "a"], [{k: 1}, [1]]])',
      'new Set([1, "b", {c: 1}])',
      'new Map([["m", new Map([["x", new Set([1])]])]])',
      'new WeakMap()',
      'new WeakSet()',
    ),
  },
  {
    name: 'functions and classes',
    code: print(
      'function f() {}',
      '() => 1',
      'async () => {}',
      'function* g() {}',
      'async function* h() {}',
      'class A {}',
      'class B extends Array {}',
      'class C { static x = 1 }',
      'Math.max',
      'Object.assign(function q() {}, {a: 1})',
      '[function () {}, class {}]',
    ),
  },
  {
    name: 'instances',
    code:
      'class A { #p = 1; x = 2; get g() { return 1 } set s(v) {} } class B extends A { y = [1] } ' +
      print(
        'new A()',
        'new B()',
        '[new B()]',
        'Object.create(null)',
        'Object.create({a: 1})',
        'Object.create(A.prototype)',
        'A.prototype',
        'new (class extends Map { z = 1 })([[1, 2]])',
        'new (class extends Error { code = 5 })("m").message',
      ),
  },
  {
    name: 'accessors and symbols',
    code: print(
      '{get a() { return 1 }, set a(v) {}, get b() { return 2 }, set c(v) {}}',
      '{[Symbol.toStringTag]: "Tag"}',
      'new (class X { get [Symbol.toStringTag]() { return "Y" } })()',
    ),
  },
  {
    name: 'typed arrays and buffers',
    code: print(
      'new Uint8Array(3)',
      'new Float64Array([1.5, 2])',
      'new BigInt64Array([1n])',
      'new ArrayBuffer(4)',
      'new DataView(new ArrayBuffer(2))',
      'new Uint8Array(200)',
    ),
  },
  {
    name: 'dates',
    code: print(
      'new Date(0)',
      '[new Date(86400000)]',
      'new Date(NaN)',
      'String(new Date(0))',
      'new Date(2024, 1, 30, 12).toString()',
      'new Date(0).toTimeString()',
      'new Date("2024-02-29T12:00:00Z").toISOString()',
      'JSON.stringify(new Date(0))',
      'new Date(2020, 0).getTimezoneOffset()',
      'new Date(0).toUTCString(), new Date(0).toDateString()',
    ),
  },
  {
    name: 'regular expressions',
    code: print(
      '/a+/gi',
      '"2024-01-02".match(/(?<y>\\d+)-(\\d+)/)',
      '[..."a1b2".matchAll(/[a-z](\\d)/g)].map((m) => m[1])',
      '"aBc".replace(/b/i, (x) => x + x)',
      '/\\p{Lu}/u.test("É")',
      '"x".match(/y/)',
      '/(?<=\\$)\\d+/.exec("a$42")',
    ),
  },
  {
    name: 'promises',
    code:
      print('Promise.resolve(1)', 'new Promise(() => {})', '(async () => ({a: 1}))()', '[Promise.resolve("x")]') +
      'const r = Promise.reject(1); r.catch(() => {}); console.log(r);',
  },
  {
    name: 'proxies and generators',
    code: print(
      'new Proxy({a: 1}, {})',
      'new Proxy([1], {})',
      '(function* () { yield 1 })()',
      '[...(function* () { yield 1; yield 2 })()]',
    ),
  },
  {
    name: 'the global object',
    code: print(
      'this === globalThis',
      'globalThis === global',
      'typeof globalThis',
      'String(globalThis)',
      'Object.prototype.toString.call(console)',
      'Object.prototype.toString.call(JSON)',
      'Math',
      'JSON',
      'Reflect',
    ),
  },
  {
    name: 'custom inspection',
    code: 'console.log({[Symbol.for("nodejs.util.inspect.custom")]() { return "custom" }}); console.log([{toString() { return "s" }}], "" + {toString() { return "t" }})',
  },
  {
    name: 'null prototypes and renamed constructors',
    code: 'function Old(x) { this.x = x } console.log(new Old(1)); const n = Object.create(null); n.a = 1; console.log(n, [n]); class Z {} Object.defineProperty(Z, "name", {value: "Renamed"}); console.log(new Z(), Z)',
  },
];

const PRINTING: Program[] = [
  {
    name: 'formats',
    code: print(
      '"%s|%d|%i|%f|%j|%o|%O|%c|%%|%x", "s", 42.5, 42.5, "1.5", {a: 1}, [1], {b: {c: {d: {}}}}, "css"',
      '"%s", {a: {b: {c: 1}}}',
      '"%s %s", 1',
      '"%d", "x"',
      '"%s", null, undefined',
      '"100%", 1',
      '"%s", Symbol("a"), 1n',
      '"%s", class A {}, function f() {}',
      '"%s", -0',
    ),
  },
  {
    name: 'the two streams',
    code: 'console.log("o1"); console.error("e1"); console.info("o2"); console.warn("e2", {a: 1}); console.debug("o3")',
  },
  {
    name: 'groups',
    code: 'console.group("one", 1); console.log("a\\nb"); console.group(); console.error("deep"); console.groupEnd(); console.log({a: 1}); console.groupEnd(); console.groupEnd(); console.log("out")',
  },
  {
    name: 'assert and count',
    code: 'console.assert(true, "no"); console.assert(false, "is %s", "so"); console.assert(false); console.assert(0, {a: 1}); console.count(); console.count("x"); console.count(); console.countReset(); console.count()',
  },
  { name: 'dir', code: 'console.dir({a: {b: {c: {d: 1}}}}, {depth: 0}); console.dir([1, "a"]); console.dirxml({a: 1}, [2])' },
  {
    name: 'process streams',
    code: 'process.stdout.write("no line"); process.stdout.write(" end\\n"); process.stderr.write("err"); console.log(process.stdout.write(""))',
  },
  {
    name: 'unicode',
    code: String.raw`console.log("é ü 漢字 한국어 😀👩‍👩‍👧 \u202e \ufeff"); console.log("a\0b\x01\x02\x03\0\x01\0"); console.log("\ud83d", "\ude00"); console.log([..."😀a"].length, "😀".length, "e\u0301".normalize("NFC").length); console.error("ß".toUpperCase(), "İ".toLowerCase().length)`,
  },
  { name: 'nothing', code: ' ' },
  { name: 'a comment', code: '// nothing\n/* at all */' },
  { name: 'a line break of Windows, a hashbang', code: '#!/usr/bin/env node\r\nconsole.log("ran")\r\n' },
];

const LANGUAGE: Program[] = [
  {
    name: 'sloppy mode',
    code: 'undeclared = 1; var v = 2; function f() { return this === globalThis } console.log(undeclared, globalThis.v, f(), delete globalThis.undeclared, typeof undeclared, 010)',
  },
  {
    name: 'strict mode',
    code: '"use strict"; function f() { return this } console.log(f()); try { undeclared = 1 } catch (error) { console.log(error.name, error.message) }',
  },
  {
    name: 'modern syntax',
    code: 'class A { static #n = 0; static { A.#n = 5 } static get() { return A.#n } } const o = {a: {b: null}}; console.log(A.get(), o?.a?.b?.c, o.a.b ?? "d", 2 ** 10, 1_000); let x; x ??= 3; const {a: {b}, ...rest} = {...o, r: 1}; console.log(x, b, rest); label: for (const i of [1, 2]) { for (;;) continue label }',
  },
  {
    name: 'newer built-ins',
    code: `${print(
      '[1, 2, 3].at(-1)',
      '[3, 1].toSorted()',
      'Object.groupBy([1, 2, 3], (x) => (x % 2 ? "odd" : "even"))',
      'new Set([1, 2]).union(new Set([3]))',
      '[1, 2].values().map((x) => x * 2).toArray()',
      'Promise.withResolvers !== undefined',
      '"a-b".replaceAll("-", "+")',
      'Array.fromAsync !== undefined',
      'structured()',
    )}function structured() { return [1, 2, 3].findLast((x) => x < 3) }`,
  },
  {
    name: 'numbers',
    code: print(
      '(25).toString(36)',
      '(0.000001234).toString()',
      '(1234.5678).toFixed(2)',
      'parseInt("12px")',
      'Number("0x1f")',
      '(123.456).toPrecision(4)',
      '0.1 * 3',
      '2 ** 53 + 1',
      '5e-324',
      '(-1.5).toFixed(0)',
      '[10, 9, 1].sort()',
      'Math.max()',
      'Math.hypot(3, 4)',
      '2n ** 100n',
      '-7n / 2n',
      'BigInt.asUintN(8, 257n)',
    ),
  },
  {
    name: 'JSON',
    code: print(
      'JSON.stringify({a: [1, {b: undefined, c: () => 1}], d: NaN, e: new Map()}, null, 2)',
      'JSON.parse(\'{"a":[1,null,"x"]}\')',
      'JSON.stringify("\\u2028\\ud800")',
      'JSON.stringify({a: 1n, toJSON() { return "j" }})',
    ),
  },
  { name: 'eval and Function', code: 'console.log(eval("1 + 1"), new Function("a", "return a * 2")(4), (0, eval)("this === globalThis"))' },
  {
    name: 'a name of Node taken by the program',
    code: 'const fetch = (x) => x + 1; function setTimeout(f) { f() } var Buffer = 3; let URL = 4; setTimeout(() => console.log(fetch(1), Buffer, URL))',
  },
  {
    name: 'which properties there are',
    code: 'console.log("prepareStackTrace" in Error, Reflect.ownKeys(Array.prototype).length, Reflect.ownKeys(String.prototype).length, Object.getOwnPropertyNames(Promise).sort().join(), Object.getOwnPropertyNames(Math).sort().join(), "InternalError" in globalThis)',
  },
];

const ASYNC: Program[] = [
  {
    name: 'the order of microtasks',
    code: 'console.log(1); Promise.resolve().then(() => console.log(3)).then(() => console.log(5)); queueMicrotask(() => console.log(4)); (async () => { console.log(2); await null; console.log("a"); await undefined; console.log("b") })(); console.log("sync")',
  },
  {
    name: 'async functions and loops',
    code: 'const wait = async (x) => x; async function main() { for await (const x of (async function* () { yield 1; yield await wait(2) })()) console.log(x); console.log(await Promise.all([wait(1), 2]), await Promise.allSettled([wait(1), Promise.reject(new Error("no"))]).then((r) => r.map((x) => x.status)), await Promise.race([wait("first"), wait("second")])); try { await Promise.any([Promise.reject(1)]) } catch (error) { console.log(error.name, error.errors) } } main().then(() => console.log("done"))',
  },
  { name: 'await at the top', code: 'const x = await Promise.resolve(5); console.log(x, this); export {}' },
  {
    name: 'a rejection that is handled later, in the same turn',
    code: 'const p = Promise.reject(new Error("late")); console.log("before"); p.catch((error) => console.log("caught", error.message))',
  },
  { name: 'thenables', code: 'await { then(resolve) { resolve(console.log("then")) } }; console.log(await { then: (r) => r(7) })' },
];

const ERRORS: Program[] = [
  { name: 'an error', code: 'console.log("before"); throw new Error("boom"); console.log("after")', uncaught: 'Error: boom\n    at ' },
  {
    name: 'an error of an own class',
    code: 'class MyError extends Error { constructor(m) { super(m); this.name = "MyError"; this.code = 42 } } throw new MyError("mine")',
    uncaught: 'MyError: mine\n    at ',
  },
  {
    name: 'properties of an error',
    code: 'throw Object.assign(new Error("boom"), { code: "E1", detail: { a: 1 } })',
    uncaught: "{\n  code: 'E1',\n  detail: { a: 1 }\n}",
  },
  {
    name: 'the cause of an error',
    code: 'throw new Error("outer", { cause: new TypeError("inner") })',
    uncaught: '[cause]: TypeError: inner',
  },
  { name: 'a string', code: 'throw "just text"', uncaught: 'just text' },
  { name: 'an object', code: 'throw { a: 1 }', uncaught: '{ a: 1 }' },
  { name: 'undefined', code: 'throw undefined', uncaught: 'undefined' },
  { name: 'a name that is not defined', code: 'console.log(notThere)', uncaught: 'ReferenceError: notThere is not defined\n    at ' },
  {
    name: 'a property of undefined',
    code: 'const o = {}; o.a.b',
    uncaught: "TypeError: Cannot read properties of undefined (reading 'b')",
  },
  { name: 'a property of null that is set', code: 'null.x = 1', uncaught: "TypeError: Cannot set properties of null (setting 'x')" },
  { name: 'a constant that is set', code: 'const c = 1; c = 2', uncaught: 'TypeError: Assignment to constant variable.' },
  { name: 'a name before its declaration', code: 'x; let x = 1', uncaught: "ReferenceError: Cannot access 'x' before initialization" },
  {
    name: 'a rejection that nobody handles',
    code: 'Promise.reject(new Error("rejected")); queueMicrotask(() => console.log("still"))',
    uncaught: 'Error: rejected\n    at ',
  },
  {
    name: 'a rejection with a value',
    code: 'Promise.reject(5)',
    uncaught:
      'UnhandledPromiseRejection: This error originated either by throwing inside of an async function without a catch block, or by rejecting a promise which was not handled with .catch(). The promise rejected with the reason "5".',
  },
  {
    name: 'an async function that throws',
    code: 'async function main() { await null; throw new RangeError("in async") } main(); console.log("started")',
    uncaught: 'RangeError: in async\n    at ',
  },
  {
    name: 'an error in a microtask',
    code: 'queueMicrotask(() => { throw new Error("micro") }); Promise.resolve().then(() => console.log("not reached"))',
    uncaught: 'Error: micro\n    at ',
  },
  {
    name: 'an error at the top of a module',
    code: 'await null; console.log("on"); throw new Error("in a module")',
    uncaught: 'Error: in a module\n    at ',
  },
  {
    name: 'a rejection at the top of a module',
    code: 'console.log(await 1); await Promise.reject(new TypeError("top"))',
    uncaught: 'TypeError: top\n    at ',
  },
  { name: 'a program that is none', code: 'console.log("never"); let x = ;', uncaught: 'SyntaxError' },
  {
    name: 'errors that are caught',
    code: 'for (const f of [() => null.x, () => { throw new RangeError("r") }, () => JSON.parse("{"), () => new Array(-1), () => undefined.f(), () => decodeURIComponent("%"), () => "x".repeat(-1), () => (1).toFixed(101), () => Symbol() + ""]) try { f() } catch (error) { console.log(error.name, error instanceof Error, error.constructor.name) }',
  },
  {
    name: 'printed errors',
    code: 'class E extends Error {} console.log(new Error("a").message, String(new TypeError("b")), [new RangeError("c").name], Object.keys(new Error("d"))); console.log(new Error("with\\nlines")); console.log({ error: new E("nested") }); console.log(new AggregateError([new Error("one")], "many").errors.length); console.log(Object.prototype.toString.call(new Error()), new Error("x") instanceof Error)',
  },
  {
    name: 'the stack',
    code: 'function f() { return new Error("s") } const { stack } = f(); console.log(stack.split("\\n")[0], /^ {4}at f \\(/.test(stack.split("\\n")[1]), typeof stack)',
  },
];

const ENDS: Program[] = [
  { name: 'exit', code: 'console.log("a"); process.exit(3); console.log("b")' },
  { name: 'exit without a code', code: 'process.exit()' },
  { name: 'exit out of a loop', code: 'try { for (let i = 0; ; i += 1) if (i === 5) process.exit(7) } finally { console.log("never") }' },
  { name: 'exit out of a promise', code: 'Promise.resolve().then(() => process.exit(4)).then(() => console.log("never"))' },
  { name: 'exit with a text', code: 'process.exit("9")' },
  { name: 'exit with a large code', code: 'process.exit(256 + 5)' },
  { name: 'an exit code', code: 'process.exitCode = 6; console.log("on", process.exitCode)' },
  { name: 'an exit code and an error', code: 'process.exitCode = 6; throw new Error("x")', uncaught: 'Error: x\n    at ' },
  { name: 'an exit code that exit takes', code: 'process.exitCode = 8; process.exit()' },
];

const OUTPUT: Program[] = [
  { name: 'more output than is kept', code: 'for (let i = 0; i < 3000; i += 1) console.log("line " + i + " " + "x".repeat(40))' },
  { name: 'one long line of both streams', code: 'console.error("e".repeat(150000)); console.log("😀".repeat(60000))' },
  { name: 'exactly what is kept', code: 'process.stdout.write("x".repeat(100000))' },
];

/** Programs that do the same in QuickJS and in Node. */
export const PROGRAMS: readonly Program[] = [...VALUES, ...PRINTING, ...LANGUAGE, ...ASYNC, ...ERRORS, ...ENDS, ...OUTPUT];

/** Stacks name the engine's own frames, and places differ in their column. */
export const withoutFrames = (text: string): string => text.replace(/\n\s+at [^\n]*/g, '');
