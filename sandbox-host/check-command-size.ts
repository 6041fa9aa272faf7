import { MAX_ARGUMENT_BYTES } from '../src/contract/runs.ts';
import type { ContainerSpec } from './create-body.ts';
import { HostError } from './host-error.ts';

/** Linux takes a quarter of the stack's limit, which is 8 MiB, for arguments and environment; what we and the image add to them has to fit too. */
const MAX_TOGETHER_BYTES = 2_097_152 - 65_536;
/** A pointer and a NUL for each. */
const EACH_BYTES = 9;

/**
 * Rejects, as an invalid request, what Linux would refuse to start (E2BIG): runc says so when the container has started already, by its output alone.
 * https://man7.org/linux/man-pages/man2/execve.2.html
 */
export function checkCommandSize({ command, env }: Pick<ContainerSpec, 'command' | 'env'>): void {
  const variables = Object.entries(env).map(([name, value]) => ({ name, bytes: Buffer.byteLength(`${name}=${value}`) }));
  const tooLong = variables.find(({ bytes }) => bytes > MAX_ARGUMENT_BYTES);
  if (tooLong) throw new HostError('invalid_request', `env.${tooLong.name}: Longer than ${MAX_ARGUMENT_BYTES} bytes with its name`);
  const sizes = [...command.map((argument) => Buffer.byteLength(argument)), ...variables.map(({ bytes }) => bytes)];
  if (sizes.reduce((total, bytes) => total + bytes + EACH_BYTES, 0) > MAX_TOGETHER_BYTES) {
    throw new HostError('invalid_request', 'Command and environment are too long together');
  }
}
