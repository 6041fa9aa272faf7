import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorker } from '../../dev/worker.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const MAX_GZIP_BYTES = 1024 * 1024;

/** The package that a path leads into, wherever npm has put it. */
const packageOf = (path: string): string | undefined => /(?:^|.*\/)node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];

interface Lock {
  packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
}

/** Packages that the product is made of, which those of development are not. */
function shippedPackages(): Set<string> {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  const shipped = Object.entries(packages).filter(([, { dev, devOptional }]) => !dev && !devOptional);
  return new Set(shipped.flatMap(([path]) => packageOf(path) ?? []));
}

const folder = mkdtempSync(join(tmpdir(), 'omniroute-bundle-'));
const networkLog = join(folder, 'network.log');
const bundleFolder = join(folder, 'bundle');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program of Node as somebody who never logged in anywhere, and records what it tries to reach. */
async function runOffline(...command: string[]) {
  writeFileSync(networkLog, '');
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
  const child = spawn(process.execPath, command, {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      XDG_CONFIG_HOME: home,
      TMPDIR: home,
      CI: '1',
      NO_COLOR: '1',
      WRANGLER_SEND_METRICS: 'false',
      // It looks for a newer wrangler when it prints its banner.
      WRANGLER_HIDE_BANNER: 'true',
      NETWORK_LOG: networkLog,
      NODE_OPTIONS: `--import ${new URL('./fixtures/record-network-use.ts', import.meta.url).href}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit') as Promise<[number]>]);
  return { code, output: stdout + stderr, reached: readFileSync(networkLog, 'utf8') };
}

describe('wrangler deploy --dry-run', () => {
  let deployed: Awaited<ReturnType<typeof runOffline>>;
  /** The files that would be uploaded, by name. */
  let modules: Record<string, Buffer>;
  let inputs: string[];

  beforeAll(async () => {
    const metafile = join(folder, 'meta.json');
    const options = ['--dry-run', '--outdir', bundleFolder, '--metafile', metafile];
    deployed = await runOffline('node_modules/wrangler/bin/wrangler.js', 'deploy', ...options);
    expect(deployed, deployed.output).toMatchObject({ code: 0 });
    const names = readdirSync(bundleFolder).filter((name) => name !== 'README.md' && !name.endsWith('.map'));
    modules = Object.fromEntries(names.map((name) => [name, readFileSync(join(bundleFolder, name))]));
    const meta = JSON.parse(readFileSync(metafile, 'utf8')) as { inputs: Record<string, unknown> };
    inputs = Object.keys(meta.inputs);
  });

  it('needs neither login nor network', async () => {
    expect(deployed.reached).toBe('');
    const reach = await runOffline('--eval', "fetch('http://192.0.2.1/').catch(() => {})");
    expect(reach.reached).toContain('192.0.2.1');
  });

  it('makes a bundle of at most 1 MiB, gzipped', () => {
    expect(Object.keys(modules)).toContain('index.js');
    expect(Object.keys(modules).filter((name) => name.endsWith('.wasm'))).toHaveLength(1);
    const bytes = Object.values(modules).reduce((sum, module) => sum + gzipSync(module).length, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThanOrEqual(MAX_GZIP_BYTES);
  });

  const shipped = shippedPackages();

  it("takes in the worker's own code and what it depends on, and nothing of development", () => {
    const foreign = inputs.filter((path) => !path.startsWith('src/') && !shipped.has(packageOf(path) ?? path));
    expect(foreign).toEqual([]);
    expect(inputs).toContain('src/index.ts');
    // The scripted model is development's, and says so in its answers.
    for (const [name, code] of Object.entries(modules)) expect(code.includes('scripted-demo'), name).toBe(false);
  });

  it('has a trigger each minute, which ends what was interrupted and forgets what is old', () => {
    expect(readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')).toMatch(/^\[triggers\]\ncrons = \["\* \* \* \* \*"\]$/m);
    expect(modules['index.js']?.toString()).toContain('skills.maintenance.complete');
  });

  it('makes a bundle that answers in workerd', async () => {
    const variables = { LIBSQL_URL: 'http://127.0.0.1:1' };
    const worker = await startWorker({ port: 0, variables, entry: join(bundleFolder, 'index.js'), onCrash() {} });
    try {
      const response = await fetch(new URL('/healthz', await worker.ready));
      expect([response.status, await response.json()]).toMatchObject([503, { database: 'unavailable' }]);
    } finally {
      await worker.dispose();
    }
  });
});
