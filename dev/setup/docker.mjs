import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startDaemon } from './daemon.mjs';
import { engineAddress, nameAddress, pingEngine } from './engine.mjs';
import { runCommand } from './run-command.mjs';

const ADVICE = {
  linux: 'install and start Docker: curl -fsSL https://get.docker.com | sudo sh',
  darwin: 'install and start Docker: brew install --cask docker && open -a Docker',
  win32: 'install and start Docker: winget install Docker.DockerDesktop',
};

/** The program's full path. Folders for administrators are looked in too, since a shell may leave them out of PATH. */
export function findProgram(name, path = process.env.PATH ?? '') {
  const folders = [...path.split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin'];
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

function readDistribution() {
  try {
    const text = readFileSync('/etc/os-release', 'utf8');
    return [...text.matchAll(/^ID(?:_LIKE)?="?([^"\n]*)"?$/gm)].flatMap((match) => match[1].split(' '));
  } catch {
    return [];
  }
}

/** What is known about this machine. */
const lookAround = () => ({
  platform: process.platform,
  isRoot: process.getuid?.() === 0,
  dockerd: findProgram('dockerd'),
  aptGet: findProgram('apt-get'),
  distribution: readDistribution(),
});

/**
 * What to do about a daemon that does not answer.
 * @param {ReturnType<typeof lookAround>} machine
 * @returns {{ step: 'start' | 'install' } | { step: 'advise', command: string }}
 */
export function chooseStep({ platform, isRoot, dockerd, aptGet, distribution }) {
  const isDebian = distribution.some((id) => id === 'debian' || id === 'ubuntu');
  if (platform !== 'linux') return { step: 'advise', command: ADVICE[platform] ?? ADVICE.linux };
  if (dockerd !== undefined) {
    return isRoot ? { step: 'start' } : { step: 'advise', command: 'start Docker: sudo systemctl start docker (or run npm start as root)' };
  }
  if (isDebian && aptGet !== undefined) {
    return isRoot ? { step: 'install' } : { step: 'advise', command: 'install Docker: sudo apt-get install -y docker.io' };
  }
  return { step: 'advise', command: ADVICE.linux };
}

async function installDocker(say) {
  say('no Docker found: installing docker.io (apt-get update && apt-get install -y docker.io)');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await runCommand('apt-get', ['update', '-q'], { env });
  await runCommand('apt-get', ['install', '-q', '-y', '--no-install-recommends', 'docker.io'], { env });
}

/** A package may start its daemon through the service manager, which takes a moment. */
async function answersSoon(address) {
  for (const deadline = Date.now() + 5_000; Date.now() < deadline; await delay(200)) {
    if ((await pingEngine(address)) === 'ready') return true;
  }
  return false;
}

function sayMissing(say, reason) {
  say(`the sandbox is not available: ${reason}`);
  say('everything else works; eval_code and execute_command answer with an error until then');
}

/**
 * Finds, starts or installs a Docker daemon. Resolves to its address, or to undefined when there is none, after saying why.
 * @param {(line: string) => void} say
 */
export async function prepareDocker(say, env = process.env) {
  if (env.OMNIROUTE_SETUP_DOCKER === 'never') return void sayMissing(say, 'OMNIROUTE_SETUP_DOCKER=never');
  try {
    const address = engineAddress(env.DOCKER_HOST);
    const state = await pingEngine(address);
    if (state === 'ready') return address;
    if (state === 'refused') {
      return void sayMissing(say, `this user may not use ${nameAddress(address)}: sudo usermod -aG docker "$USER", then log in again`);
    }
    if (env.DOCKER_HOST) return void sayMissing(say, `no Docker daemon answers on DOCKER_HOST ${env.DOCKER_HOST}`);
    return await bringUp(address, say);
  } catch (error) {
    return void sayMissing(say, error.message);
  }
}

async function bringUp(address, say) {
  const choice = chooseStep(lookAround());
  if (choice.step === 'advise') return void sayMissing(say, choice.command);
  if (choice.step === 'install') {
    await installDocker(say);
    if (await answersSoon(address)) return address;
  }
  const dockerd = findProgram('dockerd');
  if (dockerd === undefined) throw new Error('docker.io was installed, but there is no dockerd');
  await startDaemon({ dockerd, address }, say);
  return address;
}
