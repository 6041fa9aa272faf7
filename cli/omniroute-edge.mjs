#!/usr/bin/env node
// Starts the command line. A package has it as JavaScript, since Node runs no TypeScript below node_modules; a clone has its source, which
// Node 24 runs as it is and which is built first for an older one. Plain JavaScript for Node 20.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const source = new URL('main.ts', import.meta.url);
const built = new URL('../dist/cli/main.js', import.meta.url);

async function findEntry() {
  if (!existsSync(fileURLToPath(source))) return built;
  if (process.features.typescript) return source;
  const { buildCommand } = await import('./build.mjs');
  await buildCommand();
  return built;
}

let entry;
try {
  entry = await findEntry();
} catch (error) {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  console.error('error: run npm install in the folder of OmniRoute Edge first');
  process.exit(1);
}
await import(entry.href);
