import { createReadStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../setup/docker.mjs';
import { packImage } from './pack-image.mjs';
import { addPackages, addProgram, compilePython, createRoot, dropDocumentation } from './root-file-system.mjs';
import { fetchNodeBinary, fetchPackages, withDependencies } from './sources.mjs';

const LIBRARIES = ['libc6', 'libgcc-s1', 'libstdc++6'];

/**
 * What stands in for an image where no registry answers: enough of the same to run programs in, made of Debian packages and the
 * npm package of Node. The differences are said in `description`.
 */
export const STAND_INS = {
  'alpine:3.20': {
    description: "Debian's busybox, without apk",
    command: ['/bin/sh'],
    fill: async () => {},
  },
  'node:22-alpine': {
    description: "Node 22 on Debian's C library, without npm",
    command: ['node'],
    async fill(root, cache) {
      await addPackages(root, await fetchPackages(LIBRARIES, cache));
      await addProgram(root, 'node', await fetchNodeBinary(cache));
    },
  },
  'python:3.12-alpine': {
    description: "the Python 3 of this machine's Debian or Ubuntu, without pip",
    command: ['python3'],
    async fill(root, cache) {
      await addPackages(root, await fetchPackages(await withDependencies([...LIBRARIES, 'python3']), cache));
      await compilePython(root);
    },
  },
};

/** The reason why no stand-in can be made on this machine, if there is one. */
export function checkStandInTools() {
  const missing = ['apt-get', 'apt-cache', 'dpkg-deb', 'tar', 'npm'].filter((name) => findProgram(name) === undefined);
  return missing.length === 0 ? undefined : `they are made with ${missing.join(', ')}, which this machine does not have`;
}

/**
 * Builds the stand-in of an image and hands its archive (as `docker load` takes it) to `load`. The same packages give the same
 * image id every time. Downloads are kept in `cache`.
 * @param {keyof typeof STAND_INS} image
 * @param {string} cache
 * @param {(archive: import('node:fs').ReadStream) => Promise<void>} load
 */
export async function buildStandIn(image, cache, load) {
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'omniroute-image-'));
  try {
    const root = join(work, 'root');
    await createRoot(root, await fetchPackages(['busybox-static'], cache));
    await STAND_INS[image].fill(root, cache);
    dropDocumentation(root);
    const archive = await packImage({ root, image, command: STAND_INS[image].command, work });
    await load(createReadStream(archive));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
