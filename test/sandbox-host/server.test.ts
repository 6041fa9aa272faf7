import { describe, expect, it } from 'vitest';
import { BodyBudget } from '../../sandbox-host/body-budget.ts';
import { HostError } from '../../sandbox-host/host-error.ts';
import type { StartRun } from '../../sandbox-host/run-registry.ts';
import { HOST_ERROR_STATUS, type HostErrorCode, MAX_REQUEST_BYTES, type RunRequest, runResult } from '../../src/contract/runs.ts';
import { signedRequest } from '../support/sandbox-request.ts';
import { createTestServer, resultOf, SERVER_SECRET } from '../support/sandbox-server.ts';

const echo: StartRun = async ({ id }, { onStart }) => {
  onStart();
  return resultOf(id, { stdout: 'ran' });
};
const run = { id: 'run-1', image: 'alpine:3.20', command: ['true'] };

async function post(app: ReturnType<typeof createTestServer>['app'], body: unknown, accept?: string) {
  return app.request('/v1/runs', await signedRequest(SERVER_SECRET, 'POST', '/v1/runs', { body, ...(accept !== undefined && { accept }) }));
}

/** A run that says how long its body is, as over a connection. */
async function sendBytes(app: ReturnType<typeof createTestServer>['app'], id: string, header: Record<string, string>) {
  const init = await signedRequest(SERVER_SECRET, 'POST', '/v1/runs', { body: { ...run, id } });
  return app.request('/v1/runs', { ...init, headers: { ...(init.headers as Record<string, string>), ...header } });
}

it('holds a bounded number of bytes of requests at a time, whether they are signed or not', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const { app } = createTestServer(
    async ({ id }, { onStart }) => {
      onStart();
      begun.resolve();
      await promise;
      return resultOf(id);
    },
    { bodies: new BodyBudget(MAX_REQUEST_BYTES) },
  );
  const held = sendBytes(app, 'a', { 'content-length': '1000' });
  await begun.promise;
  for (const header of [{ 'content-length': String(MAX_REQUEST_BYTES - 999) }, { 'transfer-encoding': 'chunked' }]) {
    const refused = await sendBytes(app, 'b', header);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toEqual({
      code: 'queue_full',
      error: 'This sandbox host holds too many large requests, try again in 1 s',
    });
  }
  expect((await app.request('/v1/runs', await signedRequest(SERVER_SECRET, 'GET', '/v1/runs'))).status).toBe(200);
  const unsigned = { method: 'POST', body: '{}', headers: { 'content-length': String(MAX_REQUEST_BYTES - 1_000) } };
  expect((await app.request('/v1/runs', unsigned)).status).toBe(401);
  const next = sendBytes(app, 'c', { 'content-length': String(MAX_REQUEST_BYTES - 1_000) });
  resolve();
  expect((await held).status).toBe(200);
  expect((await next).status).toBe(200);
  expect((await sendBytes(app, 'd', { 'transfer-encoding': 'chunked' })).status).toBe(200);
});

describe('POST /v1/runs', () => {
  it('answers the result, and how full the host is', async () => {
    const response = await post(createTestServer(echo).app, run);
    expect(response.status).toBe(200);
    expect(runResult.parse(await response.json()).stdout).toBe('ran');
    expect(response.headers.get('x-sandbox-load')).toBe('0/4');
  });

  it.each<[string, unknown, string]>([
    ['no JSON', '{', 'The body is not valid JSON'],
    ['no object', [], 'Invalid input: expected object, received array'],
    ['an unknown field', { ...run, privileged: true }, 'Unrecognized key: "privileged"'],
    ['an odd id', { ...run, id: '../x' }, expect.stringContaining('id: ')],
    ['no command', { ...run, command: [] }, expect.stringContaining('command: ')],
    ['a NUL in an argument', { ...run, command: ['a', 'b\0'] }, 'command.1: A NUL character cannot be passed to a program'],
    ['too long an argument', { ...run, command: ['é'.repeat(65_536)] }, 'command.0: Longer than 131071 bytes'],
    ['an odd variable', { ...run, env: { 'A=B': 'c' } }, expect.stringContaining('env.A=B: ')],
    [
      'an absolute path',
      { ...run, files: [{ path: '/etc/x', contentBase64: '' }] },
      'files.0.path: Use a relative path of at most 512 bytes without "." and ".." in it',
    ],
    ['a way out', { ...run, files: [{ path: 'a/../../x', contentBase64: '' }] }, expect.stringContaining('files.0.path: ')],
    ['a NUL in a path', { ...run, files: [{ path: 'a\0b', contentBase64: '' }] }, expect.stringContaining('files.0.path: ')],
    ['a folder as path', { ...run, files: [{ path: 'a/', contentBase64: '' }] }, expect.stringContaining('files.0.path: ')],
    ['too long a path', { ...run, files: [{ path: 'é'.repeat(128), contentBase64: '' }] }, expect.stringContaining('files.0.path: ')],
    ['no base64', { ...run, files: [{ path: 'a', contentBase64: '%' }] }, expect.stringContaining('files.0.contentBase64: ')],
    [
      'a path twice',
      {
        ...run,
        files: [
          { path: 'a', contentBase64: '' },
          { path: 'a', contentBase64: '' },
        ],
      },
      'files: A path stands in it twice',
    ],
    ['too long a timeout', { ...run, limits: { timeoutMs: 60_001 } }, expect.stringContaining('limits.timeoutMs: ')],
  ])('refuses %s', async (_, body, error) => {
    const response = await post(createTestServer(echo).app, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ code: 'invalid_request', error });
  });

  it('runs what is meant for this life of the host, or for any, and refuses what is meant for another', async () => {
    const ids: string[] = [];
    const { app } = createTestServer((request, on) => {
      ids.push(request.id);
      return echo(request, on);
    });
    const send = async (path: string, id: string) =>
      app.request(path, await signedRequest(SERVER_SECRET, 'POST', path, { body: { ...run, id } }));
    expect((await send('/v1/runs', 'any')).headers.get('x-sandbox-life')).toBe('first-life');
    expect((await send('/v1/runs?life=first-life', 'this')).status).toBe(200);
    for (const path of ['/v1/runs?life=another', '/v1/browser-runs?life=another']) {
      const response = await send(path, 'other');
      expect([response.status, response.headers.get('x-sandbox-life')]).toEqual([412, 'first-life']);
      expect(await response.json()).toEqual({ code: 'host_restarted', error: 'This sandbox host has been started anew' });
    }
    expect(ids).toEqual(['any', 'this']);
  });

  it('refuses images and network access that are not allowed', async () => {
    const { app } = createTestServer(echo);
    const image = await post(app, { ...run, image: 'ubuntu:24.04' });
    expect(image.status).toBe(403);
    expect(await image.json()).toEqual({ code: 'image_not_allowed', error: 'Sandbox image is not allowed: ubuntu:24.04' });
    const network = await post(app, { ...run, limits: { networkEnabled: true } });
    expect(network.status).toBe(403);
    expect(await network.json()).toEqual({ code: 'network_not_allowed', error: 'Network access is not allowed on this sandbox host' });
  });

  it("never lets a run's limits pass the host's", async () => {
    const seen: RunRequest[] = [];
    const { app } = createTestServer((request, on) => {
      seen.push(request);
      return echo(request, on);
    });
    await post(app, { ...run, image: ' alpine:3.20 ', limits: { cpuLimit: 8_000, maxOutputChars: 5_000, maxFileBytes: 5_000 } });
    await post(app, { ...run, id: 'run-2', limits: { cpuLimit: 50, maxOutputChars: 500, maxFileBytes: 500 } });
    expect(seen[0]?.image).toBe('alpine:3.20');
    expect(seen[0]?.limits).toMatchObject({ cpuLimit: 2_000, maxOutputChars: 1_000, maxFileBytes: 2_000 });
    expect(seen[1]?.limits).toMatchObject({ cpuLimit: 50, maxOutputChars: 500, maxFileBytes: 500 });
  });

  it('refuses a body that is too large', async () => {
    const response = await post(createTestServer(echo).app, ' '.repeat(MAX_REQUEST_BYTES + 1));
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({ code: 'payload_too_large', error: 'The body is larger than 20971520 bytes' });
  });

  it.each(Object.entries(HOST_ERROR_STATUS))('answers a failure %s with %i', async (code, status) => {
    const failing: StartRun = async () => {
      throw new HostError(code as HostErrorCode, 'what is wrong', code === 'queue_full' ? { retryAfterSeconds: 7 } : {});
    };
    const { app } = createTestServer(failing);
    for (const accept of ['application/json', 'application/x-ndjson']) {
      const response = await post(app, run, accept);
      expect(response.status).toBe(status);
      expect(await response.json()).toEqual({ code, error: 'what is wrong' });
      expect(response.headers.get('retry-after')).toBe(code === 'queue_full' ? '7' : null);
    }
  });

  it('keeps to itself what an unforeseen failure says', async () => {
    const failing: StartRun = async () => {
      throw new Error('a secret detail');
    };
    const response = await post(createTestServer(failing).app, run);
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({ code: 'internal_error', error: 'Internal error' });
  });

  it('ends a stream whose run was lost with an error', async () => {
    const lost: StartRun = async (_, { onStart, onOutput }) => {
      onStart();
      onOutput('stdout', 'so far');
      await new Promise((resolve) => setTimeout(resolve, 10));
      throw new HostError('internal_error', 'The container was lost');
    };
    const response = await post(createTestServer(lost).app, run, 'application/x-ndjson');
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(
      '{"type":"stdout","text":"so far"}\n{"type":"error","error":"The container was lost","code":"internal_error"}\n',
    );
  });
});

describe('access', () => {
  it.each([
    ['POST', '/v1/runs'],
    ['GET', '/v1/runs'],
    ['DELETE', '/v1/runs'],
    ['DELETE', '/v1/runs/run-1'],
    ['GET', '/v1/anything'],
  ])('%s %s needs a signature', async (method, path) => {
    const { app, killed } = createTestServer(echo);
    const response = await app.request(path, { method });
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ code: 'unauthorized', error: 'The request is not signed' });
    const signed = await signedRequest('another secret of enough characters', method, path);
    expect((await app.request(path, signed)).status).toBe(401);
    expect(killed).toEqual([]);
  });

  it.each(['/healthz', '/readyz', '/metrics'])('%s needs none', async (path) => {
    expect((await createTestServer(echo).app.request(path)).status).toBe(200);
  });

  it('answers 404 elsewhere', async () => {
    const response = await createTestServer(echo).app.request('/nowhere');
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ code: 'not_found', error: 'No such path' });
  });
});

describe('DELETE /v1/runs/:id', () => {
  it('answers 404 when there is no such run', async () => {
    const runner = { kill: () => false, killAll: async () => 0, runningContainers: [] };
    const { app } = createTestServer(echo, { runner });
    const response = await app.request('/v1/runs/nobody', await signedRequest(SERVER_SECRET, 'DELETE', '/v1/runs/nobody'));
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ code: 'not_found', error: 'No active run has the id nobody' });
  });
});

describe('GET /healthz and /readyz', () => {
  it('tell the state of the host', async () => {
    const { app, queue } = createTestServer(echo);
    expect(await (await app.request('/healthz')).json()).toEqual({
      status: 'ok',
      hostId: 'in-process',
      running: 0,
      waiting: 0,
      capacity: 4,
      warm: { ready: 1, making: 0, target: 2 },
    });
    queue.close();
    expect(await (await app.request('/healthz')).json()).toMatchObject({ status: 'draining' });
    expect((await app.request('/readyz')).status).toBe(503);
  });

  it('tell what is missing', async () => {
    const readiness = async () => ({ ready: false, docker: true, missingImages: ['alpine:3.20'] });
    const response = await createTestServer(echo, { readiness }).app.request('/readyz');
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ ready: false, docker: true, missingImages: ['alpine:3.20'], draining: false, warm: 1 });
  });
});
