import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { createDockerEngine, type DockerEngine } from '../../sandbox-host/docker-engine.ts';
import { socketPath as sharedSocketPath } from './docker.ts';

const DISK_MB = 64;
const CONTAINERD_CONFIG = (folder: string) => `version = 2
root = "${folder}/disk/containerd"
state = "${folder}/containerd"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
address = "${folder}/containerd.sock"
`;

/** A Docker daemon that a test may harm: it shares nothing with that of the machine. */
export interface OwnDocker {
  socketPath: string;
  engine: DockerEngine;
  /** Runs a command of the docker client. */
  docker(...args: string[]): string;
  signal(signal: NodeJS.Signals): void;
  /** Ends the daemon by this signal; its containerd stays, as on a machine. */
  end(signal: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
  /** Takes the socket's file away, and returns the function that puts it back. */
  hideSocket(): () => void;
  /** Leaves no byte on the daemon's disk, and returns the function that frees it. */
  fillDisk(): () => void;
  dispose(): Promise<void>;
}

/**
 * Starts a daemon with an image on a disk of its own, in a network of its own, so that it leaves the other daemon's bridge alone. Needs root, as Docker
 * itself does.
 */
export async function startOwnDocker(image: string): Promise<OwnDocker> {
  const folder = mkdtempSync(join(tmpdir(), 'omniroute-docker-'));
  const [disk, socketPath, configPath] = [join(folder, 'disk'), join(folder, 'docker.sock'), join(folder, 'containerd.toml')];
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m`, 'tmpfs', disk]);
  writeFileSync(configPath, CONTAINERD_CONFIG(folder));
  const containerd = spawn('containerd', ['--config', configPath], { stdio: 'ignore' });
  const engine = createDockerEngine(socketPath);
  const docker = (...args: string[]) => execFileSync('/usr/bin/docker', ['-H', `unix://${socketPath}`, ...args], { encoding: 'utf8' });
  let dockerd: ChildProcess;

  async function start(): Promise<void> {
    const paths = [
      '--host',
      `unix://${socketPath}`,
      '--data-root',
      disk,
      '--exec-root',
      join(folder, 'exec'),
      '--pidfile',
      join(folder, 'pid'),
    ];
    const network = ['--bridge', 'none', '--iptables=false', '--ip6tables=false', '--ip-forward=false', '--ip-masq=false'];
    const args = ['--net', 'dockerd', '--containerd', join(folder, 'containerd.sock'), ...paths, ...network];
    dockerd = spawn('unshare', args, { stdio: 'ignore' });
    await vi.waitFor(() => engine.ping(), { timeout: 20_000, interval: 50 });
  }

  const signal = (name: NodeJS.Signals) => {
    dockerd.kill(name);
  };

  async function end(name: NodeJS.Signals): Promise<void> {
    if (dockerd.exitCode !== null || dockerd.signalCode !== null) return;
    const exited = once(dockerd, 'exit');
    signal(name);
    await exited;
  }

  await start();
  const archive = execFileSync('/usr/bin/docker', ['-H', `unix://${sharedSocketPath}`, 'save', image], { maxBuffer: 1_073_741_824 });
  execFileSync('/usr/bin/docker', ['-H', `unix://${socketPath}`, 'load'], { input: archive });

  return {
    socketPath,
    engine,
    docker,
    signal,
    end,
    start,
    hideSocket() {
      renameSync(socketPath, `${socketPath}.hidden`);
      return () => renameSync(`${socketPath}.hidden`, socketPath);
    },
    fillDisk() {
      const filler = join(disk, 'filler');
      const { bavail, bsize } = statfsSync(disk);
      writeFileSync(filler, Buffer.alloc(bavail * bsize));
      return () => rmSync(filler);
    },
    async dispose() {
      await end('SIGTERM');
      const exited = once(containerd, 'exit');
      containerd.kill('SIGTERM');
      await exited;
      execFileSync('umount', ['--lazy', disk]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
