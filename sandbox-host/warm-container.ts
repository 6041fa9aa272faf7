import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunRequest } from '../src/contract/runs.ts';
import { newNonce, type StartedContainer } from './container-source.ts';
import { type HostIdentity, nanoCpus } from './create-body.ts';
import type { DockerEngine } from './docker-engine.ts';
import { type FreshContainer, startContainer } from './start-container.ts';
import { argumentLines, supervisorOrders } from './supervisor.ts';
import { SupervisorReader } from './supervisor-reader.ts';
import { ripeningMs, type WarmKind } from './warm-kind.ts';

/** What an interpreter gets in a hurry until it waits for its program: at a tenth of a CPU, Node.js would take half a second. */
const HURRIED_CPU_LIMIT = 1_000;
const START_TIMEOUT_MS = 10_000;
/** What a container may say before it has a run; an interpreter may well have a warning for its program. */
const MAX_HEARD_BYTES = 65_536;

/** Listens to a container that has no run, until one takes it over. */
class Listener {
  readonly #stream: Duplex;
  readonly #heard: Buffer[] = [];
  #bytes = 0;

  constructor(stream: Duplex) {
    this.#stream = stream;
    stream.on('data', this.#onData);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#heard.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_HEARD_BYTES) this.#stream.destroy();
  };

  /** Stops listening and returns what was heard. The stream stands still until it is resumed. */
  stop(): Buffer {
    this.#stream.pause();
    this.#stream.off('data', this.#onData);
    return Buffer.concat(this.#heard);
  }
}

/** Resolves when the supervisor has started the program. Rejects when it does not. */
async function waitForStart(stream: Duplex, nonce: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const reader = new SupervisorReader(nonce, {
    onStart: () => resolve(),
    onFilesRefused: () => undefined,
    onOutput: () => undefined,
    onEnd: () => undefined,
    onArchive: () => undefined,
    onArchiveEnd: () => undefined,
  });
  const onData = (chunk: Buffer) => reader.push(chunk);
  const onClose = () => reject(new Error('The container ended while it was made ready'));
  const timer = setTimeout(() => reject(new Error(`The container was not ready within ${START_TIMEOUT_MS} ms`)), START_TIMEOUT_MS);
  stream.on('data', onData).on('close', onClose);
  await promise.finally(() => {
    clearTimeout(timer);
    stream.off('data', onData).off('close', onClose);
  });
}

/** A container that was started before it has a run. */
export class WarmContainer {
  readonly containerId: string;
  readonly imageId: string;
  /** Milliseconds since the epoch, as below. */
  readonly madeAt: number;
  /** From when on its program is sure to wait; one that is used before is slower, and not wrong. */
  readonly ripeAt: number;
  readonly #kind: WarmKind;
  readonly #container: FreshContainer;
  readonly #nonce: string;
  readonly #listener: Listener;

  constructor(parts: { kind: WarmKind; container: FreshContainer; nonce: string; listener: Listener; madeAt: number; ripeAt: number }) {
    this.containerId = parts.container.containerId;
    this.imageId = parts.container.imageId;
    this.madeAt = parts.madeAt;
    this.ripeAt = parts.ripeAt;
    this.#kind = parts.kind;
    this.#container = parts.container;
    this.#nonce = parts.nonce;
    this.#listener = parts.listener;
  }

  get isAlive(): boolean {
    return !this.#container.stream.destroyed && !this.#container.stream.readableEnded;
  }

  /** Calls back when the container ends by itself. */
  onEnd(callback: () => void): void {
    this.#container.stream.once('close', callback);
  }

  /** Gives the container to a run of its kind; `warm` tells whether it had been ready when the run came. */
  handOver({ command, files, returnFiles, stdin }: RunRequest, warm: boolean): StartedContainer {
    const { containerId, stream, removed } = this.#container;
    const nonce = this.#nonce;
    const orders = this.#kind.interpreter
      ? Buffer.alloc(0)
      : supervisorOrders(nonce, { files, returnFiles, words: argumentLines(command) });
    return { containerId, stream, removed, nonce, head: this.#listener.stop(), warm, input: Buffer.concat([orders, Buffer.from(stdin)]) };
  }
}

/**
 * Starts a container of a kind, with the CPU limit of its runs. In a hurry its interpreter gets more CPU until it is ready, which takes Docker another call
 * and half as much work again. Rejects with a HostError, after which no container is left.
 */
export function makeWarmContainer(
  engine: DockerEngine,
  identity: HostIdentity,
  kind: WarmKind,
  { isUrgent, now }: { isUrgent: boolean; now: () => number },
): Promise<WarmContainer> {
  const { image, limits, interpreter, returnFiles } = kind;
  const isHurried = isUrgent && interpreter !== undefined && limits.cpuLimit < HURRIED_CPU_LIMIT;
  const spec = {
    id: `warm-${randomUUID()}`,
    image,
    command: interpreter?.command ?? [],
    env: {},
    limits: isHurried ? { ...limits, cpuLimit: HURRIED_CPU_LIMIT } : limits,
  };
  return startContainer(engine, identity, spec, async (container) => {
    const { containerId, stream } = container;
    const nonce = newNonce();
    const listener = new Listener(stream);
    if (interpreter) {
      const started = waitForStart(stream, nonce);
      stream.write(supervisorOrders(nonce, { files: [], returnFiles }));
      await started;
    }
    const madeAt = now();
    if (isHurried) {
      await sleep(ripeningMs(kind, HURRIED_CPU_LIMIT));
      await engine.setCpus(containerId, nanoCpus(limits.cpuLimit));
    }
    const ripeAt = isHurried ? now() : madeAt + ripeningMs(kind, limits.cpuLimit);
    return new WarmContainer({ kind, container, nonce, listener, madeAt, ripeAt });
  });
}
