import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { runCommand } from '../setup/run-command.mjs';

const EPOCH = '1970-01-01T00:00:00Z';

/** Without times, owners and the order of a folder's entries, which would make every archive another one. */
const archiveFolder = (folder, file) =>
  runCommand('tar', [
    '--sort=name',
    '--mtime=@0',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--format=gnu',
    '-C',
    folder,
    '-cf',
    file,
    '.',
  ]);

async function sha256(file) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/**
 * Packs a root file system as an image archive of one layer (https://github.com/moby/docker-image-spec). Resolves to its file.
 * @param {{ root: string, image: string, command: string[], labels: Record<string, string>, work: string }} options `work` is a folder for what is made
 */
export async function packImage({ root, image, command, labels, work }) {
  const contents = join(work, 'contents');
  const layer = join(work, 'layer.tar');
  mkdirSync(contents);
  await archiveFolder(root, layer);
  const config = JSON.stringify({
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    created: EPOCH,
    config: {
      Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
      Cmd: command,
      Labels: labels,
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${await sha256(layer)}`] },
    history: [{ created: EPOCH, created_by: 'dev/images' }],
  });
  const configName = `${createHash('sha256').update(config).digest('hex')}.json`;
  writeFileSync(join(contents, configName), config);
  renameSync(layer, join(contents, 'layer.tar'));
  writeFileSync(join(contents, 'manifest.json'), JSON.stringify([{ Config: configName, RepoTags: [image], Layers: ['layer.tar'] }]));
  const archive = join(work, 'image.tar');
  await archiveFolder(contents, archive);
  return archive;
}
