import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';
import { runCommand } from './run-command.mjs';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Programs that are unpacked by the install script of their package, with the arguments that make them say their version. */
const UNPACKED = [
  { name: 'node', args: ['--version'] },
  { name: 'workerd', args: ['--version'] },
  { name: 'esbuild', args: ['--version'] },
];

/** Throws when this Node is too old to install and start the project. */
export function checkNode(version) {
  if (Number(version.split('.')[0]) < 20) throw new Error(`Node ${version} is too old: install Node 20 or newer`);
}

/** Without the project's own programs in front, since those are replaced while npm runs. */
function systemEnvironment(root) {
  const own = join(root, 'node_modules', '.bin');
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== own);
  return { ...process.env, PATH: path.join(delimiter) };
}

/** The npm that started us, else the one on the PATH. */
function runNpm(root, args, options) {
  const env = systemEnvironment(root);
  const cli = process.env.npm_execpath;
  if (cli?.endsWith('.js')) return runCommand(process.execPath, [cli, ...args], { cwd: root, env, ...options });
  return runCommand('npm', args, { cwd: root, env, shell: process.platform === 'win32', ...options });
}

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/**
 * Whether what npm wrote down about the installed packages is what the lock file pins. Packages for other platforms are missing
 * by rights.
 */
export function matchesLock(lock, installed) {
  return Object.entries(lock.packages).every(([path, pinned]) => {
    if (path === '') return true;
    const found = installed.packages[path];
    if (found === undefined) return pinned.optional === true || pinned.devOptional === true;
    return found.version === pinned.version && found.integrity === pinned.integrity;
  });
}

function isInstalled(root) {
  const record = join(root, 'node_modules', '.package-lock.json');
  return existsSync(record) && matchesLock(readJson(join(root, 'package-lock.json')), readJson(record));
}

async function brokenPrograms(root) {
  const tried = UNPACKED.map(async ({ name, args }) => {
    const works = await runCommand(join(root, 'node_modules', '.bin', name), args, { cwd: root }).then(
      () => true,
      () => false,
    );
    return works ? [] : [name];
  });
  return (await Promise.all(tried)).flat();
}

/** npm may be told to hold install scripts back; these packages are of no use without theirs. */
async function unpackPrograms(root, say) {
  const broken = await brokenPrograms(root);
  if (broken.length === 0) return;
  say(`running the install scripts of ${broken.join(', ')}`);
  await runNpm(root, ['rebuild', '--ignore-scripts=false', '--foreground-scripts', ...broken]);
  const still = await brokenPrograms(root);
  if (still.length > 0) throw new Error(`${still.join(', ')} cannot be run from node_modules/.bin; remove node_modules and try again`);
}

/**
 * Installs what package-lock.json pins, unless it is there, and sees to it that the programs among it run.
 * @param {(line: string) => void} say
 */
export async function preparePackages(say, root = ROOT) {
  const stamp = join(root, 'node_modules', '.omniroute-setup');
  const lockDigest = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .update(`${process.platform} ${process.arch}`)
    .digest('hex');
  const isStamped = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === lockDigest && isInstalled(root);
  if (isStamped()) return;
  // The stack keeps its secrets there later on.
  const folder = join(root, '.data');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await withLock(join(folder, 'setup.lock'), async () => {
    if (isStamped()) return;
    if (!isInstalled(root)) {
      say('installing packages (npm ci)');
      // Its warnings are about the machine's Node, of which the project brings its own, and install scripts, which `unpackPrograms` sees to.
      await runNpm(root, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { show: true });
    }
    await unpackPrograms(root, say);
    writeFileSync(stamp, lockDigest);
    say('packages are installed');
  });
}
