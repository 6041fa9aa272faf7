import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BROWSER_LABEL, planBrowserImage } from '../images/browser-image.mjs';
import { checkImageTools } from '../images/stand-in.mjs';
import { findProgram } from './docker.mjs';
import { callEngine, nameAddress } from './engine.mjs';
import { cacheFolder, inspectImage, loadImage } from './images.mjs';
import { withLock } from './lock.mjs';
import { runCommand } from './run-command.mjs';

const PROJECT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const DOCKERFILE = 'sandbox-host/browser/Dockerfile';

async function buildFromPackages(address, plan) {
  const missing = checkImageTools();
  if (missing !== undefined) throw new Error(missing);
  await loadImage(address, plan);
}

/** With a context of the few files that go in: an older Docker sends it whole. */
async function buildFromDockerfile(address, { image, labels }) {
  const docker = findProgram('docker');
  if (docker === undefined) throw new Error('there is no docker command either');
  const context = mkdtempSync(join(tmpdir(), 'omniroute-browser-'));
  try {
    for (const path of ['package-lock.json', 'sandbox-host/browser/driver']) {
      mkdirSync(dirname(join(context, path)), { recursive: true });
      cpSync(join(PROJECT, path), join(context, path), { recursive: true });
    }
    const label = `${BROWSER_LABEL}=${labels[BROWSER_LABEL]}`;
    await runCommand(docker, ['build', '-q', '-t', image, '--label', label, '-f', join(PROJECT, DOCKERFILE), context], {
      env: { ...process.env, DOCKER_HOST: nameAddress(address) },
    });
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
}

async function buildBrowserImage(address, plan, say) {
  say(`building ${plan.image}, the browser of the skill \`browser\`, from Debian's packages`);
  try {
    await buildFromPackages(address, plan);
  } catch (error) {
    say(`they cannot be had (${error.message}); building ${DOCKERFILE} instead`);
    await buildFromDockerfile(address, plan);
  }
  say(`${plan.image} is built; a sandbox-host with BROWSER_IMAGE=${plan.image} uses it`);
}

/**
 * Sees to it that the daemon has the image of the browser skill. One of ours that is not of the driver as it stands is replaced, one that
 * somebody built with the Dockerfile stays. What cannot be had is said.
 * @param {Parameters<typeof callEngine>[0]} address
 * @param {(line: string) => void} say
 */
export async function prepareBrowserImage(address, say) {
  const plan = planBrowserImage();
  const isUsable = (found) => found !== undefined && [undefined, plan.labels[BROWSER_LABEL]].includes(found.labels[BROWSER_LABEL]);
  try {
    if (isUsable(await inspectImage(address, plan.image))) return;
    await withLock(join(cacheFolder(), 'setup.lock'), async () => {
      const old = await inspectImage(address, plan.image);
      if (isUsable(old)) return;
      await buildBrowserImage(address, plan, say);
      // Refused while a container has it.
      if (old !== undefined) await callEngine(address, { method: 'DELETE', path: `/images/${old.id}` });
    });
  } catch (error) {
    say(`no image for the skill \`browser\`: ${error.message}`);
    say(`run: docker build -t ${plan.image} -f ${DOCKERFILE} .`);
  }
}
