// Bundles the command line with what it needs into dist/cli, as JavaScript for Node 20: node cli/build.mjs
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(ROOT, 'dist', 'cli');

/** Packages that are CommonJS call `require`, which an ES module does not have. */
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

/** Builds `dist/cli/main.js` and the parts that it loads when they are needed. Each file is replaced as a whole: commands may be running from there. */
export async function buildCommand() {
  const { outputFiles } = await build({
    entryPoints: { main: join(ROOT, 'cli', 'main.ts') },
    outdir: FOLDER,
    absWorkingDir: ROOT,
    bundle: true,
    splitting: true,
    minifySyntax: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    banner: { js: REQUIRE },
    legalComments: 'eof',
    logLevel: 'warning',
  });
  mkdirSync(FOLDER, { recursive: true });
  // The entry last: what it imports is there by then.
  for (const { path, contents } of outputFiles.sort((left) => (basename(left.path) === 'main.js' ? 1 : -1))) {
    const fresh = `${path}.${process.pid}.new`;
    writeFileSync(fresh, contents);
    renameSync(fresh, path);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  rmSync(FOLDER, { recursive: true, force: true });
  await buildCommand();
}
