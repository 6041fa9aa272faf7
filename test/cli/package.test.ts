import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { VERSION } from '../../src/version.ts';
import { CLI_FILE, spawnCli } from '../support/spawn-cli.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);
/** Without the programs of our packages: the Node of the machine, which may be as old as 20. */
const path = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes(`node_modules${sep}.bin`) && !folder.startsWith(ROOT))
  .join(delimiter);
let folder: string;

/** What npm does with a package of no dependencies; those of the worker are not there, so that the command shows that it needs none. */
async function installPackage(): Promise<void> {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: ROOT });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error(`npm pack made nothing: ${stdout}`);
  const target = join(folder, 'node_modules', 'omniroute-edge');
  mkdirSync(target, { recursive: true });
  await run('tar', ['-xzf', join(folder, tarball), '-C', target, '--strip-components=1']);
  mkdirSync(join(folder, 'node_modules', '.bin'));
  symlinkSync('../omniroute-edge/cli/omniroute-edge.mjs', join(folder, 'node_modules', '.bin', 'omniroute-edge'));
  writeFileSync(join(folder, 'package.json'), '{"name":"a-project","private":true}');
}

const inPackage = (args: string[], env = {}) =>
  spawnCli(['--no-install', 'omniroute-edge', ...args], {
    program: 'npx',
    cwd: folder,
    env: { PATH: path, NODE_OPTIONS: undefined, ...env },
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'omniroute-package-'));
  await installPackage();
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('runs where the package is installed, on the Node of the machine', async () => {
  const { code, stdout, stderr } = await inPackage(['--help']).ended;
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^Usage: omniroute-edge /);
  expect(existsSync(join(folder, 'node_modules', 'omniroute-edge', 'src'))).toBe(false);
});

it('has its parts with it', async () => {
  const { child, ended } = inPackage(['mcp', '--url', 'http://127.0.0.1:9'], { OMNIROUTE_TOKEN: 'omr_x' });
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  child.stdout.once('data', () => child.stdin.end());
  const { code, stdout } = await ended;
  expect(JSON.parse(stdout)).toMatchObject({ id: 1, error: { code: -32000, message: expect.stringContaining('http://127.0.0.1:9') } });
  expect(code).toBe(0);
});

it('runs in a clone, on the Node of the machine', async () => {
  const { code, stdout, stderr } = await spawnCli([CLI_FILE, '--version'], { program: 'node', env: { PATH: path } }).ended;
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
});

it('is the version of the package', async () => {
  const { default: manifest } = await import('../../package.json', { with: { type: 'json' } });
  expect(manifest.version).toBe(VERSION);
});
