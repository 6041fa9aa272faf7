import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addPackages, addProgram } from './root-file-system.mjs';
import { directDependencies, fetchClosure, fetchNewest, fetchNodeBinary } from './sources.mjs';

const PROJECT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const DRIVER = join(PROJECT, 'sandbox-host/browser/driver');
const PLAYWRIGHT = join(PROJECT, 'node_modules/playwright-core');

export const BROWSER_IMAGE = 'omniroute-browser:1';
/** Holds a digest of what the project puts into the image, so that one that is out of date is built again. */
export const BROWSER_LABEL = 'omniroute.browser';

/** Raise it when the image is put together in another way. */
const RECIPE = 1;
const BROWSER = 'chromium-headless-shell';
/** Files of the browser with desktop and developers, which it does without. */
const NOT_NEEDED = ['libVkLayer_khronos_validation.so', 'libVkLayer_khronos_validation.so.TOC'];

const driverFiles = () => readdirSync(DRIVER).sort();

function digestSources() {
  const hash = createHash('sha256').update(`${RECIPE} ${readFileSync(join(PLAYWRIGHT, 'package.json'))}`);
  for (const name of driverFiles()) hash.update(name).update(readFileSync(join(DRIVER, name)));
  return hash.digest('hex').slice(0, 16);
}

/** Debian's headless Chromium with the libraries it is linked to; what its package asks for besides is for a desktop. */
async function addBrowser(root, cache) {
  const common = 'chromium-common';
  const libraries = (await directDependencies(BROWSER)).filter((name) => name !== common);
  const closure = await fetchClosure([...libraries, 'fonts-liberation', 'fonts-dejavu-core'], cache);
  const own = await fetchNewest([BROWSER, common], cache);
  await addPackages(root, [...closure, ...own]);
  for (const name of NOT_NEEDED) rmSync(join(root, 'usr/lib/chromium', name), { force: true });
}

/** As the Dockerfile of sandbox-host/browser does. */
function addDriver(root) {
  const folder = join(root, 'opt/omniroute-browser');
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n');
  cpSync(DRIVER, join(folder, 'driver'), { recursive: true });
  cpSync(PLAYWRIGHT, join(folder, 'node_modules/playwright-core'), { recursive: true });
}

/** How to build the image of the browser skill. */
export const planBrowserImage = () => ({
  image: BROWSER_IMAGE,
  command: ['node', '/opt/omniroute-browser/driver/main.ts'],
  labels: { [BROWSER_LABEL]: digestSources() },
  async fill(root, cache) {
    await addBrowser(root, cache);
    await addProgram(root, 'node', await fetchNodeBinary(cache));
    addDriver(root);
  },
});
