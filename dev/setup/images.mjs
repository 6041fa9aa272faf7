import { homedir } from 'node:os';
import { join } from 'node:path';
import { buildImage, checkImageTools, STAND_INS } from '../images/stand-in.mjs';
import { callEngine } from './engine.mjs';
import { withLock } from './lock.mjs';

const IMAGES = Object.keys(STAND_INS);
const STAND_IN_LABEL = 'omniroute.standin';
/** A registry that has not said a word by then is taken as absent. */
const REGISTRY_TIMEOUT_MS = 15_000;
const LOAD_TIMEOUT_MS = 120_000;

export const cacheFolder = (env = process.env) => join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'omniroute-edge', 'images');

/** The id and the labels of an image, or undefined when the daemon does not have it. */
export async function inspectImage(address, image) {
  const { status, body } = await callEngine(address, { path: `/images/${encodeURIComponent(image)}/json` });
  if (status === 404) return undefined;
  if (status !== 200) throw new Error(`Docker cannot look up ${image}: ${messageOf(body)}`);
  const { Id, Config } = JSON.parse(body);
  return { id: Id, labels: Config?.Labels ?? {} };
}

/** Whether the daemon has the image, and whether it is one of ours: `pulled`, `stand-in` or `missing`. */
export async function imageState(address, image) {
  const found = await inspectImage(address, image);
  if (found === undefined) return 'missing';
  return found.labels[STAND_IN_LABEL] === 'true' ? 'stand-in' : 'pulled';
}

function messageOf(body) {
  try {
    return JSON.parse(body).message ?? body;
  } catch {
    return body.trim();
  }
}

/** The first error among the progress lines that a pull or a load answers with, under status 200. */
const streamedError = (body) =>
  body
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line).error)
    .find((error) => error !== undefined);

/** Pulls an image. Resolves to undefined, or to why it could not be had. */
async function pullImage(address, image) {
  const [name, tag] = image.split(':');
  const path = `/images/create?fromImage=${encodeURIComponent(name)}&tag=${encodeURIComponent(tag)}`;
  try {
    const { status, body } = await callEngine(address, { method: 'POST', path, idleMs: REGISTRY_TIMEOUT_MS });
    return status === 200 ? streamedError(body) : messageOf(body);
  } catch (error) {
    return error.message;
  }
}

/** Builds an image of our own and hands it to the daemon. */
export async function loadImage(address, plan) {
  await buildImage(plan, cacheFolder(), async (archive) => {
    const call = { method: 'POST', path: '/images/load?quiet=1', body: archive, idleMs: LOAD_TIMEOUT_MS };
    const { status, body } = await callEngine(address, call);
    const error = status === 200 ? streamedError(body) : messageOf(body);
    if (error !== undefined) throw new Error(`Docker cannot load ${plan.image}: ${error}`);
  });
}

async function loadStandIn(address, image, say) {
  const { description, ...plan } = STAND_INS[image];
  await loadImage(address, { ...plan, image, labels: { [STAND_IN_LABEL]: 'true', 'omniroute.standin.for': image } });
  say(`${image} is a stand-in: ${description}`);
}

/** Pulls what is missing; where no registry answers, builds the stand-ins instead. */
async function fetchImages(address, images, say) {
  let registryAnswers = true;
  for (const image of images) {
    if (registryAnswers) {
      say(`pulling ${image}`);
      const failure = await pullImage(address, image);
      if (failure === undefined) continue;
      registryAnswers = false;
      say(`no registry answers (${failure})`);
    }
    if ((await imageState(address, image)) === 'stand-in') continue;
    const missingTool = checkImageTools();
    if (missingTool !== undefined) throw new Error(`no stand-in for ${image} either, ${missingTool}; run: docker pull ${image}`);
    say(`building a stand-in for ${image}`);
    await loadStandIn(address, image, say);
  }
}

/**
 * Sees to it that the daemon has the images of the sandbox. `pull` asks a registry again for those that are stand-ins.
 * What cannot be had is said, since only runs in that image need it.
 * @param {Parameters<typeof callEngine>[0]} address
 * @param {(line: string) => void} say
 * @param {{ pull: boolean }} options
 */
export async function prepareImages(address, say, { pull }) {
  const inState = async (...wanted) => {
    const states = await Promise.all(IMAGES.map((image) => imageState(address, image)));
    return IMAGES.filter((_, index) => wanted.includes(states[index]));
  };
  const unwanted = pull ? ['missing', 'stand-in'] : ['missing'];
  try {
    if ((await inState(...unwanted)).length > 0) {
      await withLock(join(cacheFolder(), 'setup.lock'), async () => fetchImages(address, await inState(...unwanted), say));
    }
    const standIns = await inState('stand-in');
    if (standIns.length > 0) say(`stand-ins (try a registry again with: node dev/setup.mjs --pull): ${standIns.join(', ')}`);
  } catch (error) {
    say(`not every sandbox image is there: ${error.message}`);
  }
}
