import { setTimeout as sleep } from 'node:timers/promises';
import type { OutputStream, RunRequest, RunResult } from '../src/contract/runs.ts';
import type { StartedContainer } from './container-source.ts';
import type { DockerEngine } from './docker-engine.ts';
import { FileCollector } from './file-collector.ts';
import { HostError } from './host-error.ts';
import { OutputText } from './output-text.ts';
import { type ContainerUsage, readUsage } from './read-usage.ts';
import { type ProgramEnd, SupervisorReader, signalOf } from './supervisor-reader.ts';

/** How long the supervisor may take to start the program: unpacking 15 MiB at a hundredth of a CPU is slow. */
const START_TIMEOUT_MS = 30_000;
const TERM_GRACE_MS = 250;
/** What a program may still write past its output cap, so that one that is nearly done keeps its exit code. */
const DRAIN_BYTES = 4_194_304;
const DRAIN_MS = 250;
/** How long files may take to come back once the program has ended. */
const COLLECT_TIMEOUT_MS = 10_000;
/** How long a kill and the last output may take to come through. */
const KILL_TIMEOUT_MS = 2_000;
/** The kernel's OOM events come a little after the end of the process. */
const OOM_EVENT_MS = 300;
/** How long a kill may wait for what the kernel tells of the container. */
const USAGE_TIMEOUT_MS = 100;
const KILLED: ProgramEnd = { exitCode: 137, signal: 'SIGKILL', oomKilled: false };

export interface ProgramWatcher {
  /** Fires to kill the program. */
  signal: AbortSignal;
  onStart(): void;
  onOutput(stream: OutputStream, text: string): void;
}

export type ProgramResult = Omit<RunResult, 'id' | 'queuedMs' | 'warm'>;

/**
 * Hands a run to its container and follows it to its end: output as it comes, timeout, output cap, files. Resolves as soon as the program's end is known,
 * which is before the container is gone. Rejects with a HostError when the container did not do its part.
 */
export function runProgram(
  engine: DockerEngine,
  container: StartedContainer,
  request: RunRequest,
  watcher: ProgramWatcher,
): Promise<ProgramResult> {
  const { limits } = request;
  const { stream, containerId } = container;
  const takenAt = Date.now();
  const text = { stdout: new OutputText(limits.maxOutputChars), stderr: new OutputText(limits.maxOutputChars) };
  const collector = new FileCollector({ sent: request.files, maxFileBytes: limits.maxFileBytes });
  const { promise, resolve, reject } = Promise.withResolvers<ProgramResult>();
  const timers = new Set<NodeJS.Timeout>();
  let startedAt: number | undefined;
  let endedAt: number | undefined;
  let programEnd: ProgramEnd | undefined;
  let timedOut = false;
  let killed = false;
  let isArchiveThere = false;
  let ending = false;
  let settled = false;
  let bytesPastCap = 0;
  let cpuMsBefore: number | undefined;
  let killedEnd = KILLED;

  const after = (ms: number, action: () => void) => timers.add(setTimeout(action, ms));
  const clearTimers = () => {
    for (const timer of timers) clearTimeout(timer);
    timers.clear();
  };

  function emit(name: OutputStream, added: string): void {
    if (added !== '') watcher.onOutput(name, added);
  }

  const isTruncated = () => text.stdout.truncated || text.stderr.truncated;
  const isFlooded = () => isTruncated() || collector.isOverfull;

  function settle(outcome: ProgramEnd | HostError): void {
    if (settled) return;
    settled = true;
    clearTimers();
    watcher.signal.removeEventListener('abort', kill);
    stream.destroy();
    if (outcome instanceof HostError) {
      reject(outcome);
      return;
    }
    emit('stdout', text.stdout.end());
    emit('stderr', text.stderr.end());
    if (request.returnFiles && startedAt !== undefined) {
      if (!isArchiveThere)
        collector.skipRest(killed ? 'The run was ended before its files were read' : 'Not all files could be read in time');
      else if (!collector.done) collector.skipRest('Not all files could be read');
    }
    const end = endedAt ?? Date.now();
    resolve({
      ...outcome,
      stdout: text.stdout.text,
      stderr: text.stderr.text,
      truncated: isTruncated(),
      timedOut,
      killed,
      durationMs: end - (startedAt ?? end),
      files: collector.files,
      ...(collector.skippedCount > 0 && { skippedFiles: collector.skipped, skippedFileCount: collector.skippedCount }),
    });
  }

  /** Ends the container whatever it does, and the run with it. What a flood still writes is not read. */
  async function endContainer(): Promise<void> {
    if (ending || settled) return;
    ending = true;
    clearTimers();
    if (isFlooded()) stream.pause();
    if (startedAt !== undefined) await noteUsage();
    after(KILL_TIMEOUT_MS, () => settle(programEnd ?? killedEnd));
    await engine.kill(containerId, 'SIGKILL').catch(() => undefined);
    if (isFlooded()) settle(programEnd ?? killedEnd);
  }

  /** Notes what the container has used while it can still be asked for. */
  async function noteUsage(): Promise<void> {
    const usage = engine.processOf(containerId).then((pid) => readUsage(pid));
    const { cpuMs, maxMemoryBytes } = await Promise.race([usage, sleep<ContainerUsage>(USAGE_TIMEOUT_MS, {})]).catch(
      (): ContainerUsage => ({}),
    );
    killedEnd = {
      ...KILLED,
      ...(cpuMs !== undefined && cpuMsBefore !== undefined && { cpuMs: Math.max(0, cpuMs - cpuMsBefore) }),
      ...(maxMemoryBytes !== undefined && { maxMemoryBytes }),
    };
  }

  function kill(): void {
    killed = true;
    void endContainer();
  }

  function timeOut(): void {
    timedOut = true;
    killed = true;
    engine.kill(containerId, 'SIGTERM').catch(() => undefined);
    after(TERM_GRACE_MS, () => void endContainer());
  }

  /** The container's end said it all: its first process was killed, or the container as a whole. */
  async function concludeFromExit(): Promise<void> {
    if (settled) return;
    reader.end();
    if (ending) return settle(programEnd ?? killedEnd);
    const exitCode = await container.removed.catch(() => undefined);
    if (startedAt === undefined) return settle(new HostError('docker_unavailable', 'The container did not start the program'));
    if (exitCode === undefined) return settle(new HostError('internal_error', 'The container was lost'));
    const oomKilled = await engine.wasOutOfMemory(containerId, takenAt, Date.now() + OOM_EVENT_MS).catch(() => false);
    if (!programEnd && !oomKilled) killed = true;
    const signal = signalOf(exitCode);
    settle(programEnd ?? { exitCode, ...(signal !== undefined && { signal }), oomKilled });
  }

  const reader = new SupervisorReader(container.nonce, {
    onStart(cpuMs) {
      clearTimers();
      cpuMsBefore = cpuMs;
      startedAt = Date.now();
      watcher.onStart();
      after(limits.timeoutMs, timeOut);
    },
    onFilesRefused: () => settle(new HostError('payload_too_large', 'The files do not fit into the workspace')),
    onOutput(name, bytes) {
      const wasTruncated = isTruncated();
      emit(name, text[name].push(bytes));
      if (!text[name].truncated) return;
      if (!wasTruncated) after(DRAIN_MS, kill);
      bytesPastCap += bytes.length;
      if (bytesPastCap > DRAIN_BYTES) kill();
    },
    onEnd(end) {
      clearTimers();
      programEnd = end;
      endedAt = Date.now();
      if (request.returnFiles && !isArchiveThere && !ending) after(COLLECT_TIMEOUT_MS, () => void endContainer());
      else settle(end);
    },
    onArchive(bytes) {
      if (!request.returnFiles) return;
      collector.push(bytes);
      if (collector.isOverfull) void endContainer();
    },
    onArchiveEnd(isWhole) {
      isArchiveThere = true;
      if (!isWhole) collector.skipRest('Not all files could be read');
      if (programEnd) settle(programEnd);
    },
  });

  stream.on('data', (chunk: Buffer) => {
    if (!settled) reader.push(chunk);
  });
  stream.on('error', () => undefined);
  stream.on('close', () => void concludeFromExit());
  if (stream.closed) void concludeFromExit();
  watcher.signal.addEventListener('abort', kill);
  if (watcher.signal.aborted) {
    kill();
  } else {
    after(START_TIMEOUT_MS, () => settle(new HostError('docker_unavailable', 'The container did not start the program in time')));
    reader.push(container.head);
    stream.end(container.input);
    stream.resume();
  }
  return promise;
}
