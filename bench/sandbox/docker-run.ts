import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { EXPECTED, type Program } from './programs.ts';

/** Runs a program by Docker's own command line, under the flags that every sandbox has at least. Rejects when it does not print what it should. */
export async function dockerRun({ image, command, stdin }: Program, cpuLimit: number): Promise<void> {
  const flags = [
    ...['--rm', '--interactive', '--pull', 'never', '--network', 'none', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--pids-limit', '100', '--cpus', String(cpuLimit / 1_000), '--memory', '256m', '--read-only'],
    ...['--tmpfs', '/tmp:rw,noexec,nosuid,size=64m', '--tmpfs', '/workspace:rw,noexec,nosuid,size=64m'],
  ];
  const child = spawn('docker', ['run', ...flags, image, ...command], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (output !== EXPECTED) throw new Error(`docker run ${image} printed ${JSON.stringify(output)}`);
}
