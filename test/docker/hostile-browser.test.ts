import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createBrowserHost } from '../support/browser-host.ts';
import { newRunId, socketPath } from '../support/docker.ts';

const DOCKER = `/usr/bin/docker -H unix://${socketPath}`;
const shell = (script: string) => promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script]);
const MODES = ['exit', 'garbage', 'flood', 'leave', 'shape', 'endless', 'early', 'many', 'reach'];
const imageOf = (mode: string) => `omniroute-test-hostile:${mode}`;

beforeAll(async () => {
  const builds = MODES.map((mode) => {
    const lines = `FROM node:22-alpine\\nCOPY hostile-driver.ts /opt/omniroute-browser/driver/main.ts\\nENV MODE=${mode}\\n`;
    return `printf '${lines}' | ${DOCKER} build -q -t ${imageOf(mode)} -f - ${join(import.meta.dirname, 'fixtures')}`;
  });
  await shell(builds.join('\n'));
});
afterAll(() => shell(`${DOCKER} rmi ${MODES.map(imageOf).join(' ')}`));

const steps = [{ action: 'navigate' as const, url: 'http://site.example/' }];

describe('a container that has been taken over', () => {
  it.each([
    ['exit', 'The browser could not be started'],
    ['garbage', 'The browser could not be started'],
    ['flood', 'The browser could not be started'],
    ['leave', 'The browser was lost'],
    ['shape', 'The browser sent an answer that cannot be read'],
    ['endless', 'The browser sent an answer that cannot be read'],
  ])('by "%s" fails its run and is removed', async (mode, error) => {
    const host = createBrowserHost({ BROWSER_IMAGE: imageOf(mode) });
    const answer = await host.send({ id: newRunId(), steps });
    expect(answer.status).toBe(500);
    expect(await answer.json()).toEqual({ code: 'internal_error', error });
    await vi.waitFor(async () => expect(await host.containers()).toEqual([]), { timeout: 20_000, interval: 50 });
  });

  it.each([
    ['before it has fetched its steps', 'early'],
    ['while another one is under way', 'many'],
  ])('cannot send an outcome %s', async (_, mode) => {
    const host = createBrowserHost({ BROWSER_IMAGE: imageOf(mode) });
    const { error } = await host.browse(steps);
    expect(error).toBe('Stream closed with error code NGHTTP2_REFUSED_STREAM');
  });

  it('reaches nothing that a page would not', async () => {
    const host = createBrowserHost({ BROWSER_IMAGE: imageOf('reach') });
    const { error } = await host.browse(steps);
    expect(error).toMatch(/^403 403 403 403 403 403 .*NGHTTP2_REFUSED_STREAM.*NGHTTP2_REFUSED_STREAM$/);
  });
});
