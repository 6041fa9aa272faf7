import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SETUP = join(import.meta.dirname, '../../dev/setup');
const DOCKERD = join(import.meta.dirname, 'fixtures/dockerd.mjs');

type Say = (line: string) => void;
interface Address {
  socketPath: string;
}
interface Machine {
  platform: string;
  isRoot: boolean;
  dockerd?: string;
  aptGet?: string;
  distribution: string[];
}
interface Installed {
  packages: Record<string, { version?: string; integrity?: string; optional?: boolean }>;
}

// The set-up is JavaScript, since it runs before there is a TypeScript compiler.
const load = async <Module>(file: string): Promise<Module> => (await import(join(SETUP, file))) as Module;
const { checkNode, matchesLock } = await load<{
  checkNode(version: string): void;
  matchesLock(lock: Installed, installed: Installed): boolean;
}>('packages.mjs');
const { chooseStep, findProgram, prepareDocker } = await load<{
  chooseStep(machine: Machine): { step: string; command?: string };
  findProgram(name: string, path?: string): string | undefined;
  prepareDocker(say: Say, env: Record<string, string | undefined>): Promise<Address | undefined>;
}>('docker.mjs');
const { engineAddress, pingEngine } = await load<{
  engineAddress(dockerHost: string | undefined): Address;
  pingEngine(address: Address): Promise<string>;
}>('engine.mjs');
const { withLock } = await load<{ withLock<T>(path: string, work: () => Promise<T>, options?: { timeoutMs: number }): Promise<T> }>(
  'lock.mjs',
);
const { startDaemon } = await load<{
  startDaemon(
    options: { dockerd: string; address: Address; files: Record<string, string>; extraArguments?: string[] },
    say: Say,
  ): Promise<void>;
}>('daemon.mjs');
const { packImage } = (await import(join(SETUP, '../images/pack-image.mjs'))) as {
  packImage(options: { root: string; image: string; command: string[]; labels: Record<string, string>; work: string }): Promise<string>;
};

const run = (program: string, args: string[], env: Record<string, string> = {}): Promise<{ code: number | null; output: string }> =>
  new Promise((resolve) => {
    const child = spawn(program, args, { env: { ...process.env, ...env } });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    child.once('close', (code) => resolve({ code, output }));
  });

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'omniroute-setup-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('packages', () => {
  it('refuses a Node that is too old', () => {
    expect(() => checkNode('18.20.4')).toThrow('Node 18.20.4 is too old: install Node 20 or newer');
    expect(() => checkNode('20.0.0')).not.toThrow();
  });

  it.each<[string, Installed['packages'], boolean]>([
    ['the same', { a: { version: '1.0.0', integrity: 'x' }, b: { version: '2.0.0' } }, true],
    ['one more, which another package brought', { a: { version: '1.0.0', integrity: 'x' }, b: { version: '2.0.0' }, c: {} }, true],
    ['without one that is for another platform', { a: { version: '1.0.0', integrity: 'x' } }, true],
    ['another version', { a: { version: '1.0.1', integrity: 'x' } }, false],
    ['other contents', { a: { version: '1.0.0', integrity: 'y' } }, false],
    ['nothing', {}, false],
  ])('what is installed is %s: %s', (_, packages, matches) => {
    const lock = { packages: { '': {}, a: { version: '1.0.0', integrity: 'x' }, b: { version: '2.0.0', optional: true } } };
    expect(matchesLock(lock, { packages })).toBe(matches);
  });
});

describe('preparePackages', () => {
  /** Lets the real npm install a small project, and resolves to all that is printed. */
  const install = (manifest: object, lock: object): Promise<string> => {
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, requires: true, ...lock }));
    const program = `
      import { preparePackages } from ${JSON.stringify(join(SETUP, 'packages.mjs'))};
      await preparePackages(console.log, ${JSON.stringify(folder)}).catch((error) => console.log(error.message));`;
    return run(process.execPath, ['--input-type=module', '-e', program]).then(({ output }) => output);
  };
  const example = { name: 'example', version: '1.0.0' };

  it('prints no warning of npm about an older Node, which the project brings its own of', async () => {
    const manifest = { ...example, engines: { node: '>=99' } };
    const output = await install(manifest, { ...example, packages: { '': manifest } });
    expect(output).toContain('installing packages (npm ci)');
    expect(output).not.toMatch(/warn|EBADENGINE/);
    expect(statSync(join(folder, '.data')).mode & 0o777).toBe(0o700);
  });

  it("prints npm's errors", async () => {
    const manifest = { ...example, dependencies: { './absent': 'file:./absent' } };
    expect(await install(manifest, { ...example, packages: { '': example } })).toMatch(/^npm error /m);
  });
});

describe('chooseStep', () => {
  const linux = { platform: 'linux', isRoot: true, distribution: ['debian'], aptGet: '/usr/bin/apt-get' };
  it.each<[string, Machine, { step: string; command?: string }]>([
    ['starts a daemon that is installed', { ...linux, dockerd: '/usr/sbin/dockerd' }, { step: 'start' }],
    ['installs one on Debian', linux, { step: 'install' }],
    ['installs one on Ubuntu', { ...linux, distribution: ['ubuntu', 'debian'] }, { step: 'install' }],
    [
      'names the command when an installed one needs root',
      { ...linux, isRoot: false, dockerd: '/usr/sbin/dockerd' },
      { step: 'advise', command: 'start Docker: sudo systemctl start docker (or run npm start as root)' },
    ],
    [
      'names the command when installing needs root',
      { ...linux, isRoot: false },
      { step: 'advise', command: 'install Docker: sudo apt-get install -y docker.io' },
    ],
    [
      'names the command on another Linux',
      { ...linux, distribution: ['fedora'] },
      { step: 'advise', command: 'install and start Docker: curl -fsSL https://get.docker.com | sudo sh' },
    ],
    [
      'names the command on macOS',
      { platform: 'darwin', isRoot: false, distribution: [] },
      { step: 'advise', command: 'install and start Docker: brew install --cask docker && open -a Docker' },
    ],
  ])('%s', (_, machine, choice) => {
    expect(chooseStep(machine)).toEqual(choice);
  });
});

describe('findProgram', () => {
  it('looks in PATH and in the folders for administrators', () => {
    writeFileSync(join(folder, 'some-program'), '', { mode: 0o755 });
    writeFileSync(join(folder, 'some-text'), '', { mode: 0o644 });
    expect(findProgram('some-program', folder)).toBe(join(folder, 'some-program'));
    expect(findProgram('some-program', '')).toBeUndefined();
  });
});

describe('the Docker daemon', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  const listen = async (socketPath: string): Promise<void> => {
    server = createServer((request, response) => response.writeHead(request.url === '/_ping' ? 200 : 404).end('OK'));
    await new Promise<void>((resolve) => server?.listen(socketPath, resolve));
  };

  it('is looked for where DOCKER_HOST says', () => {
    expect(engineAddress(undefined)).toEqual({ socketPath: '/var/run/docker.sock' });
    expect(engineAddress('')).toEqual({ socketPath: '/var/run/docker.sock' });
    expect(engineAddress('unix:///run/other.sock')).toEqual({ socketPath: '/run/other.sock' });
    expect(() => engineAddress('ssh://me@there')).toThrow(
      'DOCKER_HOST ssh://me@there is not supported: use a Unix socket, such as unix:///var/run/docker.sock',
    );
  });

  it('answers or does not', async () => {
    const socketPath = join(folder, 'docker.sock');
    expect(await pingEngine({ socketPath })).toBe('absent');
    await listen(socketPath);
    expect(await pingEngine({ socketPath })).toBe('ready');
  });

  it('is used when it answers', async () => {
    const socketPath = join(folder, 'docker.sock');
    await listen(socketPath);
    const said: string[] = [];
    expect(await prepareDocker((line) => said.push(line), { DOCKER_HOST: `unix://${socketPath}` })).toEqual({ socketPath });
    expect(said).toEqual([]);
  });

  it.each([
    [
      'nobody answers on DOCKER_HOST',
      { DOCKER_HOST: 'unix:///nowhere.sock' },
      'no Docker daemon answers on DOCKER_HOST unix:///nowhere.sock',
    ],
    ['it is not wanted', { OMNIROUTE_SETUP_DOCKER: 'never' }, 'OMNIROUTE_SETUP_DOCKER=never'],
    ['DOCKER_HOST is of no use', { DOCKER_HOST: 'tcp://1.2.3.4' }, 'DOCKER_HOST tcp://1.2.3.4 is not supported'],
  ])('is missing, and that is said, when %s', async (_, env, reason) => {
    const said: string[] = [];
    expect(await prepareDocker((line) => said.push(line), env)).toBeUndefined();
    expect(said[0]).toContain(`the sandbox is not available: ${reason}`);
    expect(said[1]).toBe('everything else works; eval_code and execute_command answer with an error until then');
  });
});

describe('startDaemon', () => {
  let files: Record<string, string> = {};
  let address: Address = { socketPath: '' };
  const started = (): string[][] =>
    readFileSync(`${files.pidFile}.starts`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as string[]);
  beforeEach(() => {
    const at = (name: string): string => join(folder, name);
    files = {
      dataRoot: at('data/docker'),
      execRoot: at('exec'),
      pidFile: at('run/docker.pid'),
      logFile: at('log/dockerd.log'),
      lockFile: at('lock'),
    };
    address = { socketPath: at('docker.sock') };
  });
  afterEach(() => {
    if (files.pidFile !== undefined && existsSync(files.pidFile)) process.kill(Number(readFileSync(files.pidFile, 'utf8')));
  });

  it('starts one in its own folders and says how to stop it', async () => {
    const said: string[] = [];
    await startDaemon({ dockerd: DOCKERD, address, files }, (line) => said.push(line));
    const { dataRoot, execRoot, pidFile } = files as { dataRoot: string; execRoot: string; pidFile: string };
    const host = `unix://${address.socketPath}`;
    expect(started()).toEqual([['--host', host, '--data-root', dataRoot, '--exec-root', execRoot, '--pidfile', pidFile]]);
    const pid = readFileSync(pidFile, 'utf8');
    expect(said).toEqual([
      `starting dockerd (log: ${files.logFile})`,
      `dockerd runs as process ${pid} and stays; stop it with: kill $(cat ${pidFile})`,
    ]);
  });

  it('starts one only, when two set-ups come at once', async () => {
    const start = (): Promise<void> => startDaemon({ dockerd: DOCKERD, address, files }, () => {});
    await Promise.all([start(), start()]);
    expect(started()).toHaveLength(1);
  });

  it('does so over what a killed one left behind, whoever has its process id now', async () => {
    mkdirSync(join(folder, 'run'));
    writeFileSync(files.pidFile ?? '', String(process.pid));
    writeFileSync(files.lockFile ?? '', '999999999');
    await startDaemon({ dockerd: DOCKERD, address, files }, () => {});
    expect(await pingEngine(address)).toBe('ready');
  });

  it('tells the last line of the log when it fails', async () => {
    await expect(startDaemon({ dockerd: DOCKERD, address, files, extraArguments: ['--fail'] }, () => {})).rejects.toThrow(
      'dockerd ended (1): failed to start daemon: no space left on device',
    );
    expect(existsSync(files.lockFile ?? '')).toBe(false);
  });
});

describe('withLock', () => {
  it('lets one in at a time', async () => {
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setTimeout(resolve, 20));
      inside -= 1;
    };
    await Promise.all([1, 2, 3].map(() => withLock(join(folder, 'lock'), work)));
    expect(most).toBe(1);
  });

  it('gives up after a while, naming who is inside', async () => {
    const path = join(folder, 'lock');
    writeFileSync(path, String(process.pid));
    await expect(withLock(path, async () => {}, { timeoutMs: 150 })).rejects.toThrow(
      `another set-up (process ${process.pid}) holds ${path}`,
    );
  });
});

describe('packImage', () => {
  it('makes the same archive of the same files, whenever they were written', async () => {
    const pack = async (name: string, modified: Date): Promise<Buffer> => {
      const root = join(folder, name, 'root');
      mkdirSync(join(root, 'bin'), { recursive: true });
      for (const file of name === 'one' ? ['bin/a', 'bin/b'] : ['bin/b', 'bin/a']) {
        writeFileSync(join(root, file), file, { mode: 0o755 });
        utimesSync(join(root, file), modified, modified);
      }
      const plan = { image: 'alpine:3.20', command: ['/bin/sh'], labels: { 'omniroute.standin': 'true' } };
      return readFileSync(await packImage({ root, ...plan, work: join(folder, name) }));
    };
    const one = await pack('one', new Date(1_000_000));
    const two = await pack('two', new Date(2_000_000_000));
    expect(one.equals(two)).toBe(true);
    expect(one.includes('"omniroute.standin":"true"')).toBe(true);
  });
});

describe('node dev/setup.mjs', () => {
  const setUp = (args: string[], env: Record<string, string>) => run(process.execPath, [join(SETUP, '../setup.mjs'), ...args], env);

  it('succeeds without Docker, and says what is missing', async () => {
    const { code, output } = await setUp([], { OMNIROUTE_SETUP_DOCKER: 'never' });
    expect(output).toContain('setup: the sandbox is not available: OMNIROUTE_SETUP_DOCKER=never');
    expect(code).toBe(0);
  });

  it('fails without Docker when it is required', async () => {
    const { code, output } = await setUp(['--require-docker'], { OMNIROUTE_SETUP_DOCKER: 'never' });
    expect(output).toContain('setup: failed: no Docker daemon answers');
    expect(code).toBe(1);
  });

  it('refuses an option that it does not know', async () => {
    const { code, output } = await setUp(['--fast'], {});
    expect(output).toBe('setup: failed: unknown option --fast; known are --browser, --pull, --require-docker\n');
    expect(code).toBe(1);
  });
});
