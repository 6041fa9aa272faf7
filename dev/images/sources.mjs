import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../setup/run-command.mjs';

/** Pinned, so that the same image comes out on every machine. */
const NODE_VERSION = '22.23.5';

/** Asked for by the packages of Python, but of no use in a container that only runs programs. */
const RUNTIME_PACKAGE = /^(lib|python3|zlib)(?!perl|acl|selinux|gdbm|pcre2|md0)/;

let listsAreFresh = false;

/** apt knows no package before its first update, as in a fresh container. */
async function refreshLists() {
  if (listsAreFresh) return;
  await runCommand('apt-get', ['update', '-q']);
  listsAreFresh = true;
}

/** Runs an apt program, once more after an update of its lists when it fails. */
async function runApt(program, args, options) {
  try {
    return await runCommand(program, args, options);
  } catch (error) {
    await refreshLists().catch(() => {
      throw error;
    });
    return runCommand(program, args, options);
  }
}

/** The packages and the libraries that they need, in alphabetical order. */
export async function withDependencies(names) {
  const only = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'].map((kind) => `--no-${kind}`);
  const listed = await runApt('apt-cache', ['depends', '--recurse', ...only, ...names]);
  const found = listed.split('\n').filter((line) => RUNTIME_PACKAGE.test(line));
  return [...new Set(found)].sort();
}

/** Downloads Debian packages, unless the cache has them. Resolves to their files. */
export async function fetchPackages(names, cache) {
  const folder = join(cache, 'debs');
  mkdirSync(folder, { recursive: true });
  const find = (name) => readdirSync(folder).find((file) => file.startsWith(`${name}_`) && file.endsWith('.deb'));
  const missing = names.filter((name) => find(name) === undefined);
  if (missing.length > 0) await runApt('apt-get', ['download', '-q', ...missing], { cwd: folder });
  return names.map((name) => {
    const file = find(name);
    if (file === undefined) throw new Error(`apt-get did not download ${name}`);
    return join(folder, file);
  });
}

/** apt as if nothing were installed on this machine, so that its answer is the same on every one. */
const onEmptyMachine = (archives) =>
  ['Dir::State::status=/dev/null', `Dir::Cache::archives=${archives}`, 'Debug::NoLocking=1', 'APT::Install-Recommends=false'].flatMap(
    (option) => ['-o', option],
  );

/** The files that an apt-get command would download, by its own account. */
async function listDownloads(args) {
  const listed = await runApt('apt-get', ['--print-uris', '-y', ...args]);
  return [...listed.matchAll(/^'\S+' (\S+\.deb) /gm)].map((match) => match[1]);
}

/** Downloads Debian packages in their newest version, with all that they need, unless the cache has them. Resolves to their files. */
export async function fetchClosure(names, cache) {
  const folder = join(cache, 'debs');
  const empty = join(cache, 'no-debs');
  for (const archives of [folder, empty]) mkdirSync(join(archives, 'partial'), { recursive: true });
  const files = await listDownloads([...onEmptyMachine(empty), 'install', ...names]);
  await runApt('apt-get', [...onEmptyMachine(folder), '--download-only', '-y', '-q', 'install', ...names]);
  return files.map((file) => join(folder, file)).sort();
}

/** Downloads Debian packages in their newest version, unless the cache has them, and drops older ones. Resolves to their files. */
export async function fetchNewest(names, cache) {
  const folder = join(cache, 'debs');
  mkdirSync(folder, { recursive: true });
  const files = await listDownloads(['download', ...names]);
  if (files.some((file) => !existsSync(join(folder, file)))) await runApt('apt-get', ['download', '-q', ...names], { cwd: folder });
  const isOld = (file) => names.some((name) => file.startsWith(`${name}_`)) && !files.includes(file);
  for (const file of readdirSync(folder).filter(isOld)) rmSync(join(folder, file));
  return files.map((file) => join(folder, file));
}

/** What the package itself asks for, without what those ask for in turn. */
export async function directDependencies(name) {
  const listed = await runApt('apt-cache', ['depends', '--important', name]);
  return [...listed.matchAll(/^ *(?:Pre)?Depends: ([a-z0-9.+-]+)$/gm)].map((match) => match[1]);
}

/** Downloads Node from npm, unless the cache has it. Resolves to the binary's file. */
export async function fetchNodeBinary(cache) {
  const name = `node-linux-${process.arch}`;
  const binary = join(cache, `${name}-${NODE_VERSION}`);
  if (existsSync(binary)) return binary;
  const unpacked = join(cache, 'unpacked');
  mkdirSync(unpacked, { recursive: true });
  try {
    await runCommand('npm', ['pack', '--silent', `${name}@${NODE_VERSION}`], { cwd: unpacked });
    await runCommand('tar', ['-xzf', `${name}-${NODE_VERSION}.tgz`, 'package/bin/node'], { cwd: unpacked });
    renameSync(join(unpacked, 'package', 'bin', 'node'), binary);
  } finally {
    rmSync(unpacked, { recursive: true, force: true });
  }
  return binary;
}
