import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { socketPath } from './docker.ts';

/** Runs Docker's client and resolves with what it prints. Rejects with an Error that says what it complained about. */
export async function docker(args: readonly string[], options: { env?: Record<string, string>; input?: Readable } = {}): Promise<string> {
  const env = { ...process.env, DOCKER_HOST: `unix://${socketPath}`, DOCKER_BUILDKIT: '0', ...options.env };
  const child = spawn('docker', args, { env, stdio: [options.input ? 'pipe' : 'ignore', 'pipe', 'pipe'] });
  const { promise: ended, resolve, reject } = Promise.withResolvers<number | null>();
  child.on('error', reject).on('exit', resolve);
  if (options.input && child.stdin) {
    child.stdin.on('error', () => undefined);
    options.input.pipe(child.stdin);
  }
  const [output, complaints, code] = await Promise.all([text(child.stdout as Readable), text(child.stderr as Readable), ended]);
  if (code !== 0) throw new Error(`docker ${args.join(' ')}: ${complaints.trim()}`);
  return output.trim();
}
