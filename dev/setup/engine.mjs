import { request } from 'node:http';

/**
 * Where a Docker daemon listens, from DOCKER_HOST. Sandbox-hosts talk to a Unix socket only.
 * @param {string | undefined} dockerHost
 * @returns {{ socketPath: string }}
 */
export function engineAddress(dockerHost) {
  if (dockerHost === undefined || dockerHost === '') return { socketPath: '/var/run/docker.sock' };
  if (/^unix:\/\/\/./.test(dockerHost)) return { socketPath: dockerHost.slice('unix://'.length) };
  throw new Error(`DOCKER_HOST ${dockerHost} is not supported: use a Unix socket, such as unix:///var/run/docker.sock`);
}

/** How a person would write the address. */
export const nameAddress = (address) => `unix://${address.socketPath}`;

/**
 * One call of the Docker Engine API (https://docs.docker.com/reference/api/engine/). Resolves to the status and the body's text;
 * rejects with the connection's error (its `code` is kept), or when nothing arrives for `idleMs`.
 * @param {ReturnType<typeof engineAddress>} address
 * @param {{ method?: string, path: string, body?: import('node:stream').Readable, idleMs?: number, onText?: (text: string) => void }} call
 * @returns {Promise<{ status: number, body: string }>}
 */
export function callEngine(address, { method = 'GET', path, body, idleMs = 5_000, onText }) {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/x-tar' };
    const sent = request({ ...address, method, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
        onText?.(chunk);
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on('error', reject);
    });
    sent.setTimeout(idleMs, () => sent.destroy(new Error(`no answer within ${idleMs} ms`)));
    sent.on('error', reject);
    if (body === undefined) sent.end();
    else body.on('error', (error) => sent.destroy(error)).pipe(sent);
  });
}

/**
 * Whether a daemon answers: `ready`, `refused` when this user may not talk to it, else `absent`.
 * @returns {Promise<'ready' | 'refused' | 'absent'>}
 */
export async function pingEngine(address) {
  try {
    const { status } = await callEngine(address, { path: '/_ping', idleMs: 3_000 });
    return status === 200 ? 'ready' : 'absent';
  } catch (error) {
    return error.code === 'EACCES' || error.code === 'EPERM' ? 'refused' : 'absent';
  }
}
