import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { HOST_GLOBAL } from '../../src/quickjs/guest.ts';
import { meterQuickJs } from './meter-quickjs.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, 'src', 'quickjs');
export const WASM_FILE = join(FOLDER, 'generated', 'quickjs.wasm');
export const GUEST_FILE = join(FOLDER, 'generated', 'guest-source.ts');

/** The import of the binding's JavaScript that calls a function of the host, by the name that its build gave it. */
const HOST_CALL = 't';

/** QuickJS with its fuel. */
export function buildWasm(): Uint8Array<ArrayBuffer> {
  const path = createRequire(import.meta.url).resolve('@jitl/quickjs-ng-wasmfile-release-sync/wasm');
  return meterQuickJs(readFileSync(path), HOST_CALL);
}

/**
 * Where the extract of Node's inspector needs another word than it has: it does not ask the engine for what JavaScript cannot see, and it is
 * of a newer Node than the containers' 22.
 */
const INSPECTOR_CHANGES: readonly [string, string][] = [
  ['getPromiseDetails:()=>[g,void 0]', 'getPromiseDetails:p=>{const[s,v]=engine.promiseState(p);return[s===0?g:s===1?0:h,v]}'],
  ['previewEntries:t=>[[],!1]', 'previewEntries:()=>engine.needNode("the entries of an iterator")'],
  ['s=t.stylize(e,"symbol")}else', 's=t.stylize(e,"symbol"),!1!==i.enumerable&&(s="["+s+"]")}else'],
  // The engine gives the properties of a match in another order.
  [
    '(2!==e||o.enumerable)&&r.push(n)}return r}',
    '(2!==e||o.enumerable)&&r.push(n)}return"groups,index,input"===r.join()?["index","input","groups"]:r}',
  ],
];

function changeInspector(source: string): string {
  const changed = INSPECTOR_CHANGES.reduce((text, [old, wanted]) => {
    if (text.split(old).length !== 2) throw new Error(`Node's inspector has no ${old}`);
    return text.replace(old, () => wanted);
  }, source);
  // It looks globals up when it is called, too; by then they are the program's.
  const pristine = 'Object.defineProperties({},Object.getOwnPropertyDescriptors(globalThis))';
  return `(function(globalThis,engine){globalThis.globalThis=globalThis;const{URL}=globalThis;${changed}})(${pristine},globalThis.${HOST_GLOBAL});`;
}

/** A module that holds, as text, the code that makes QuickJS look like Node from inside. */
export async function buildGuest(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'guest', 'index.ts')],
    absWorkingDir: ROOT,
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2023',
    platform: 'neutral',
    logLevel: 'silent',
    plugins: [
      {
        name: 'inspector',
        setup({ onLoad }) {
          onLoad({ filter: /node-inspect-extracted\/dist\/inspect\.js$/ }, ({ path }) => ({
            contents: changeInspector(readFileSync(path, 'utf8')),
          }));
        },
      },
    ],
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error('esbuild made nothing of the guest');
  return `/** Made by dev/quickjs/build.ts of dev/quickjs/guest. */\nexport const GUEST_SOURCE = ${JSON.stringify(file.text)};\n`;
}

if (import.meta.main) {
  mkdirSync(join(FOLDER, 'generated'), { recursive: true });
  writeFileSync(WASM_FILE, buildWasm());
  writeFileSync(GUEST_FILE, await buildGuest());
}
