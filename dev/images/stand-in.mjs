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

/** The reason why no image can be made on this machine, if there is one. */
export function checkImageTools() {
  const missing = ['apt-get', 'apt-cache', 'dpkg-deb', 'tar', 'npm'].filter((name) => findProgram(name) === undefined);
  return missing.length === 0 ? undefined : `they are made with ${missing.join(', ')}, which this machine does not have`;
}

/**
 * Builds an image on busybox and hands its archive (as `docker load` takes it) to `load`. The same contents give the same image id
 * every time. Downloads are kept in `cache`.
 * @param {{ image: string, command: string[], labels: Record<string, string>, fill: (root: string, cache: string) => Promise<void> }} plan
 * @param {string} cache
 * @param {(archive: import('node:fs').ReadStream) => Promise<void>} load
 */
export async function buildImage({ image, command, labels, fill }, cache, load) {
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'omniroute-image-'));
  try {
    const root = join(work, 'root');
    await createRoot(root, await fetchPackages(['busybox-static'], cache));
    await fill(root, cache);
    dropDocumentation(root);
    const archive = await packImage({ root, image, command, labels, work });
    await load(createReadStream(archive));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
