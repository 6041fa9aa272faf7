#!/usr/bin/env node
// Makes a fresh clone ready: packages, Docker, sandbox images. Plain JavaScript for Node 20, because it runs before anything
// is installed; safe to run again at any time.
import { prepareBrowserImage } from './setup/browser.mjs';
import { prepareDocker } from './setup/docker.mjs';
import { prepareImages } from './setup/images.mjs';
import { checkNode, preparePackages } from './setup/packages.mjs';

const FLAGS = ['--browser', '--pull', '--require-docker'];

const say = (line) => console.log(`setup: ${line}`);

/** Reasons to stop are thrown; a sandbox that cannot be had is said, since everything else works without it. */
async function setUp(flags) {
  const unknown = flags.find((flag) => !FLAGS.includes(flag));
  if (unknown !== undefined) throw new Error(`unknown option ${unknown}; known are ${FLAGS.join(', ')}`);
  checkNode(process.versions.node);
  await preparePackages(say);
  const docker = await prepareDocker(say);
  if (docker !== undefined) await prepareImages(docker, say, { pull: flags.includes('--pull') });
  if (docker !== undefined && flags.includes('--browser')) await prepareBrowserImage(docker, say);
  if (docker === undefined && flags.includes('--require-docker')) throw new Error('no Docker daemon answers');
}

try {
  await setUp(process.argv.slice(2));
} catch (error) {
  console.error(`setup: failed: ${error.message}`);
  process.exitCode = 1;
}
