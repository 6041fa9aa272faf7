import { READY_PATH } from '../src/contract/runs.ts';

/** The health check of the image: ends with 0 when the sandbox-host of this container is ready. */
const { SANDBOX_ADDRESS = '0.0.0.0', SANDBOX_PORT = '8890' } = process.env;
const loopback: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
const address = loopback[SANDBOX_ADDRESS] ?? SANDBOX_ADDRESS;
const host = address.includes(':') ? `[${address}]` : address;
const isReady = await fetch(`http://${host}:${SANDBOX_PORT}${READY_PATH}`, { signal: AbortSignal.timeout(4_000) }).then(
  ({ ok }) => ok,
  () => false,
);
process.exitCode = isReady ? 0 : 1;
