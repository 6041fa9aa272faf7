import { request } from 'node:http';

/**
 * Where a Docker daemon listens, from DOCKER_HOST.
 * @param {string | undefined} dockerHost
 * @returns {{ socketPath: string } | { host: string, port: number }}
 */
export function engineAddress(dockerHost) {
  if (dockerHost === undefined || dockerHost === '') {
    return { socketPath: process.platform === 'win32' ? '//./pipe/docker_engine' : '/var/run/docker.sock' };
  }
  if (dockerHost.startsWith('unix://')) return { socketPath: dockerHost.slice('unix://'.length) };
  const tcp = /^(?:tcp|http):\/\/([^:/]+):(\d+)\/?$/.exec(dockerHost);
  if (tcp === null) throw new Error(`DOCKER_HOST ${dockerHost} is not supported: use unix:///path or tcp://host:port`);
  return { host: tcp[1], port: Number(tcp[2]) };
}

/** How a person would write the address. */
export const nameAddress = (address) =>
  'socketPath' in address ? `unix://${address.socketPath}` : `tcp://${address.host}:${address.port}`;

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
