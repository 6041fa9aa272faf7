import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { docker } from './docker-cli.ts';

const ROOT = join(import.meta.dirname, '..', '..');
export const DOCKERFILE = 'sandbox-host/Dockerfile';
const STAND_IN_BASE = 'omniroute-node-standin:24';

/** What the Dockerfile takes from the project, each a path from its root. */
export const copiedPaths = (): string[] =>
  readFileSync(join(ROOT, DOCKERFILE), 'utf8')
    .split('\n')
    .flatMap((line) => /^COPY (.+) \S+$/.exec(line)?.[1]?.split(' ') ?? []);

const pack = (folder: string, paths: readonly string[]) => {
  const { stdout } = spawn('tar', ['--create', '--directory', folder, ...paths], { stdio: ['ignore', 'pipe', 'inherit'] });
  return stdout;
};

/** Node 24 where no registry answers: the stand-in for Node 22 with the program that the project itself runs on. */
async function buildBase(): Promise<string> {
  const labels = await docker(['image', 'inspect', 'node:22-alpine', '--format', '{{index .Config.Labels "omniroute.standin"}}']);
  if (labels !== 'true') return 'node:24-alpine';
  const folder = mkdtempSync(join(tmpdir(), 'omniroute-base-'));
  try {
    writeFileSync(join(folder, 'Dockerfile'), 'FROM node:22-alpine\nCOPY node /usr/local/bin/node\n');
    const input = pack(folder, ['Dockerfile', '--directory', join(ROOT, 'node_modules/node/bin'), 'node']);
    await docker(['build', '--quiet', '--tag', STAND_IN_BASE, '-'], { input });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return STAND_IN_BASE;
}

/** Builds the image of the sandbox-host as the Dockerfile says, once for each tag. */
export async function buildHostImages(tags: readonly string[]): Promise<void> {
  const base = await buildBase();
  for (const tag of tags) {
    const args = [
      'build',
      '--quiet',
      '--file',
      DOCKERFILE,
      '--build-arg',
      `BASE=${base}`,
      '--label',
      `omniroute.test=${tag}`,
      '--tag',
      tag,
      '-',
    ];
    await docker(args, { input: pack(ROOT, copiedPaths()) });
  }
}
