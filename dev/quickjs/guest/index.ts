import './stand-ins.ts';
import { inspect } from 'node-inspect-extracted';
import { GUEST_GLOBAL, type Guest, HOST_GLOBAL, type Host } from '../../../src/quickjs/guest.ts';
import { createConsole } from './console.ts';
import { installStacks } from './error-stack.ts';
import { matchNode } from './match-node.ts';
import { createProcess } from './process.ts';
import { installRandom } from './random.ts';
import { createRejections } from './rejections.ts';

const scope = globalThis as Record<string, unknown>;
const host = scope[HOST_GLOBAL] as Host;
delete scope[HOST_GLOBAL];

const { process, exitCode } = createProcess(host);
const define = (name: string, value: unknown) => Object.defineProperty(scope, name, { value, writable: true, configurable: true });
define('console', createConsole(host));
define('process', process);
define('global', globalThis);
Object.defineProperty(globalThis, Symbol.toStringTag, { value: 'global', configurable: true });
installStacks();
matchNode(host);

const describeError = (error: unknown): string => `Uncaught ${typeof error === 'string' ? error : inspect(error)}`;

const guest: Guest = {
  seed: installRandom(),
  exitCode,
  describeError,
  ...createRejections(host, describeError),
};
define(GUEST_GLOBAL, guest);
