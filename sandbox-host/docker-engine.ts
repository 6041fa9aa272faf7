import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { z } from 'zod';

/** What the Docker Engine answered when it refused a request. */
export class DockerError extends Error {
  readonly status: number;
  override readonly name = 'DockerError';

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface ContainerSummary {
  id: string;
  /** `running`, `paused`, `exited` and others. */
  state: string;
  labels: Record<string, string>;
}

/** The few calls of the Docker Engine API that runs need. Each rejects with a DockerError, or with the socket's error when nobody answers. */
export interface DockerEngine {
  ping(): Promise<void>;
  /** Names of the OCI runtimes that the engine is configured with. */
  listRuntimes(): Promise<string[]>;
  /** undefined when the image is not there. */
  inspectImage(image: string): Promise<{ id: string; volumes: string[] } | undefined>;
  createContainer(name: string, body: object): Promise<string>;
  /** The container's stdin, and its output as frames; open it before the start, else output can be lost. */
  attach(containerId: string): Promise<Duplex>;
  start(containerId: string): Promise<void>;
  /** The container's first process, as this machine numbers it. */
  processOf(containerId: string): Promise<number>;
  /** Resolves when the container has no more CPU than this from now on. */
  setCpus(containerId: string, nanoCpus: number): Promise<void>;
  /** Resolves with the exit status of the container's first process once the container is removed. Ask before the start. */
  waitRemoved(containerId: string): Promise<number>;
  /** Resolves when the signal is sent, for SIGKILL when the process is dead. A container that is gone is fine. */
  kill(containerId: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Kills and removes. A container that is gone is fine. */
  remove(containerId: string): Promise<void>;
  /** Running or not, newest first. */
  listByLabel(label: string): Promise<ContainerSummary[]>;
  /** Whether the kernel killed something of this container for want of memory since `sinceMs`; works after its removal too. */
  wasOutOfMemory(containerId: string, sinceMs: number, nowMs: number): Promise<boolean>;
}

const version = z.object({ ApiVersion: z.string(), MinAPIVersion: z.string() });
const info = z.object({ Runtimes: z.record(z.string(), z.unknown()).nullish() });
const created = z.object({ Id: z.string() });
const waited = z.object({ StatusCode: z.int() });
const inspected = z.object({ State: z.object({ Pid: z.int().min(1) }) });
const image = z.object({ Id: z.string(), Config: z.object({ Volumes: z.record(z.string(), z.unknown()).nullish() }).nullish() });
const containers = z.array(z.object({ Id: z.string(), State: z.string(), Labels: z.record(z.string(), z.string()).nullable() }));
const failure = z.object({ message: z.string() });

/** Docker 20.10's version of the API, which later engines speak too, up to the day they drop it. */
const PREFERRED_VERSION = '1.41';
const MAX_ANSWER_BYTES = 8_388_608;
/** Runs that find Docker stalled are told in time to go elsewhere. */
const CALL_TIMEOUT_MS = 15_000;

const unanswered = (timeoutMs: number) => new Error(`Docker did not answer within ${timeoutMs} ms`);

const minorOf = (apiVersion: string) => Number(apiVersion.split('.')[1] ?? 0);

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('Docker sent too long an answer');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

interface Call {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  body?: object;
  /** null waits for ever. */
  timeoutMs?: number | null;
  /** Statuses that count as success besides 2xx. */
  accept?: readonly number[];
}

/** A thin client of the Docker Engine API over its Unix socket. https://docs.docker.com/reference/api/engine/ */
export function createDockerEngine(socketPath: string): DockerEngine {
  let prefix: Promise<string> | undefined;

  function send({ method, path, body, timeoutMs = CALL_TIMEOUT_MS, accept = [] }: Call): Promise<string> {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const headers = payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) };
      const outgoing = httpRequest({ socketPath, method, path, headers: { host: 'docker', ...headers }, agent: false }, (response) => {
        const status = response.statusCode ?? 0;
        readAll(response).then((text) => {
          if ((status >= 200 && status < 300) || accept.includes(status)) resolve(text);
          else reject(new DockerError(status, messageOf(text)));
        }, reject);
      });
      outgoing.on('error', reject);
      if (timeoutMs !== null) outgoing.setTimeout(timeoutMs, () => outgoing.destroy(unanswered(timeoutMs)));
      outgoing.end(payload);
    });
  }

  async function negotiate(): Promise<string> {
    const { MinAPIVersion } = version.parse(JSON.parse(await send({ method: 'GET', path: '/version' })));
    return `/v${minorOf(MinAPIVersion) > minorOf(PREFERRED_VERSION) ? MinAPIVersion : PREFERRED_VERSION}`;
  }

  async function versioned(path: string): Promise<string> {
    prefix ??= negotiate();
    try {
      return (await prefix) + path;
    } catch (error) {
      prefix = undefined;
      throw error;
    }
  }

  const call = async (request: Call): Promise<string> => send({ ...request, path: await versioned(request.path) });
  const filters = (value: object) => `filters=${encodeURIComponent(JSON.stringify(value))}`;

  return {
    async ping() {
      await send({ method: 'GET', path: '/_ping', timeoutMs: 2_000 });
    },
    async listRuntimes() {
      return Object.keys(info.parse(JSON.parse(await call({ method: 'GET', path: '/info' }))).Runtimes ?? {});
    },
    async inspectImage(name) {
      try {
        const { Id, Config } = image.parse(JSON.parse(await call({ method: 'GET', path: `/images/${encodeURI(name)}/json` })));
        return { id: Id, volumes: Object.keys(Config?.Volumes ?? {}) };
      } catch (error) {
        if (error instanceof DockerError && error.status === 404) return undefined;
        throw error;
      }
    },
    async createContainer(name, body) {
      return created.parse(JSON.parse(await call({ method: 'POST', path: `/containers/create?name=${encodeURIComponent(name)}`, body })))
        .Id;
    },
    async attach(containerId) {
      const path = await versioned(`/containers/${containerId}/attach?stream=1&stdin=1&stdout=1&stderr=1`);
      return new Promise((resolve, reject) => {
        const headers = { host: 'docker', connection: 'Upgrade', upgrade: 'tcp' };
        const outgoing = httpRequest({ socketPath, method: 'POST', path, headers, agent: false });
        // Only for the answer: the stream may be silent for as long as it likes.
        const timer = setTimeout(() => outgoing.destroy(unanswered(CALL_TIMEOUT_MS)), CALL_TIMEOUT_MS);
        outgoing.on('upgrade', (_response, socket, head) => {
          clearTimeout(timer);
          if (head.length > 0) socket.unshift(head);
          resolve(socket);
        });
        outgoing.on('response', (response) => {
          clearTimeout(timer);
          readAll(response).then((text) => reject(new DockerError(response.statusCode ?? 0, messageOf(text))), reject);
        });
        outgoing.on('error', (error) => {
          clearTimeout(timer);
          reject(error);
        });
        outgoing.end();
      });
    },
    async start(containerId) {
      await call({ method: 'POST', path: `/containers/${containerId}/start` });
    },
    async processOf(containerId) {
      return inspected.parse(JSON.parse(await call({ method: 'GET', path: `/containers/${containerId}/json` }))).State.Pid;
    },
    async setCpus(containerId, nanoCpus) {
      await call({ method: 'POST', path: `/containers/${containerId}/update`, body: { NanoCpus: nanoCpus } });
    },
    async waitRemoved(containerId) {
      const path = `/containers/${containerId}/wait?condition=removed`;
      return waited.parse(JSON.parse(await call({ method: 'POST', path, timeoutMs: null }))).StatusCode;
    },
    async kill(containerId, signal) {
      await call({ method: 'POST', path: `/containers/${containerId}/kill?signal=${signal}`, accept: [404, 409] });
    },
    async remove(containerId) {
      await call({ method: 'DELETE', path: `/containers/${containerId}?force=1&v=1`, accept: [404, 409] });
    },
    async listByLabel(label) {
      const path = `/containers/json?all=1&${filters({ label: [label] })}`;
      const listed = containers.parse(JSON.parse(await call({ method: 'GET', path })));
      return listed.map(({ Id, State, Labels }) => ({ id: Id, state: State, labels: Labels ?? {} }));
    },
    async wasOutOfMemory(containerId, sinceMs, nowMs) {
      const range = `since=${(sinceMs / 1_000).toFixed(3)}&until=${(nowMs / 1_000).toFixed(3)}`;
      const events = await call({ method: 'GET', path: `/events?${range}&${filters({ container: [containerId], event: ['oom'] })}` });
      return events.trim() !== '';
    },
  };
}

function messageOf(text: string): string {
  try {
    return failure.parse(JSON.parse(text)).message;
  } catch {
    return text.slice(0, 500);
  }
}
