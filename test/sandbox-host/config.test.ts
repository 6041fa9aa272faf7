import { describe, expect, it } from 'vitest';
import { readHostConfig } from '../../sandbox-host/config.ts';

const SANDBOX_SECRET = 's'.repeat(32);

describe('readHostConfig', () => {
  it('has defaults for all but the secret', () => {
    expect(readHostConfig({ SANDBOX_SECRET })).toEqual({
      address: '127.0.0.1',
      port: 8890,
      hostId: 'port-8890',
      secret: SANDBOX_SECRET,
      socketPath: '/var/run/docker.sock',
      maxConcurrent: expect.any(Number),
      maxQueue: 32,
      drainMs: 5_000,
      warm: { minWarm: 1, maxWarm: expect.any(Number), maxWarmAgeMs: 600_000, isNetworkWarm: false },
      images: ['alpine:3.20', 'node:22-alpine', 'python:3.12-alpine'],
      networkAllowed: false,
      maxOutputChars: 100_000,
      maxFileBytes: 1_048_576,
      browser: { image: undefined, maxConcurrent: expect.any(Number), maxQueue: 32, cpuLimit: 1_000, memoryLimit: 1_024 },
    });
    expect(readHostConfig({ SANDBOX_SECRET }).browser.maxConcurrent).toBeGreaterThanOrEqual(1);
    expect(readHostConfig({ SANDBOX_SECRET }).maxConcurrent).toBeGreaterThanOrEqual(1);
  });

  it('reads every variable, and takes an empty one for none', () => {
    const config = readHostConfig({
      SANDBOX_SECRET,
      SANDBOX_ADDRESS: '0.0.0.0',
      SANDBOX_PORT: '9000',
      SANDBOX_HOST_ID: '',
      DOCKER_HOST: 'unix:///run/user/1000/docker.sock',
      SANDBOX_RUNTIME: 'runsc',
      SANDBOX_MAX_CONCURRENT: '7',
      SANDBOX_MAX_QUEUE: '0',
      SANDBOX_DRAIN_SECONDS: '75',
      SANDBOX_WARM_MIN: '2',
      SANDBOX_WARM_MAX: '9',
      SANDBOX_WARM_MAX_AGE_SECONDS: '30',
      SANDBOX_WARM_NETWORK: 'true',
      SKILLS_ALLOWED_SANDBOX_IMAGES: 'ruby:3 , ruby:3,',
      SKILLS_SANDBOX_NETWORK_ENABLED: '1',
      SKILLS_MAX_SANDBOX_OUTPUT_CHARS: '5',
      SKILLS_MAX_FILE_BYTES: '6',
      BROWSER_IMAGE: 'omniroute-browser:1',
      BROWSER_MAX_CONCURRENT: '3',
      BROWSER_CPU_LIMIT: '500',
      BROWSER_MEMORY_LIMIT: '2048',
    });
    expect(config).toEqual({
      address: '0.0.0.0',
      port: 9000,
      hostId: 'port-9000',
      secret: SANDBOX_SECRET,
      socketPath: '/run/user/1000/docker.sock',
      runtime: 'runsc',
      maxConcurrent: 7,
      maxQueue: 0,
      drainMs: 75_000,
      warm: { minWarm: 2, maxWarm: 9, maxWarmAgeMs: 30_000, isNetworkWarm: true },
      images: ['alpine:3.20', 'node:22-alpine', 'python:3.12-alpine', 'ruby:3'],
      networkAllowed: true,
      maxOutputChars: 5,
      maxFileBytes: 6,
      browser: { image: 'omniroute-browser:1', maxConcurrent: 3, maxQueue: 0, cpuLimit: 500, memoryLimit: 2_048 },
    });
  });

  it.each([
    [{ SANDBOX_SECRET: undefined }, 'SANDBOX_SECRET: Required: a secret that the gateway knows too'],
    [{ SANDBOX_SECRET: 'short' }, 'SANDBOX_SECRET: Use at least 32 characters'],
    [{ SANDBOX_ADDRESS: 'localhost' }, 'SANDBOX_ADDRESS: Use an IP address to listen on'],
    [{ SANDBOX_PORT: '0' }, 'SANDBOX_PORT: Use at least 1'],
    [{ SANDBOX_PORT: '65536' }, 'SANDBOX_PORT: Use at most 65535'],
    [{ SANDBOX_PORT: '80.5' }, 'SANDBOX_PORT: Use a whole number'],
    [{ SANDBOX_HOST_ID: 'a b' }, 'SANDBOX_HOST_ID: Use at most 63 letters, digits, ".", "_" and "-"'],
    [{ DOCKER_HOST: 'tcp://127.0.0.1:2375' }, 'DOCKER_HOST: Use a Unix socket, such as unix:///var/run/docker.sock'],
    [{ DOCKER_HOST: 'unix://docker.sock' }, 'DOCKER_HOST: Use a Unix socket, such as unix:///var/run/docker.sock'],
    [{ SANDBOX_RUNTIME: '/usr/bin/runsc' }, 'SANDBOX_RUNTIME: Use a name of Docker’s runtimes, such as runsc'],
    [{ SANDBOX_MAX_CONCURRENT: '0' }, 'SANDBOX_MAX_CONCURRENT: Use at least 1'],
    [{ SANDBOX_MAX_QUEUE: '-1' }, 'SANDBOX_MAX_QUEUE: Use a whole number'],
    [{ SANDBOX_DRAIN_SECONDS: '3601' }, 'SANDBOX_DRAIN_SECONDS: Use at most 3600'],
    [{ BROWSER_MAX_CONCURRENT: '0' }, 'BROWSER_MAX_CONCURRENT: Use at least 1'],
    [{ BROWSER_CPU_LIMIT: '1' }, 'BROWSER_CPU_LIMIT: Use at least 100'],
    [{ BROWSER_MEMORY_LIMIT: '64' }, 'BROWSER_MEMORY_LIMIT: Use at least 256'],
    [{ SANDBOX_WARM_MIN: '101' }, 'SANDBOX_WARM_MIN: Use at most 100'],
    [{ SANDBOX_WARM_MAX: 'all' }, 'SANDBOX_WARM_MAX: Use a whole number'],
    [{ SANDBOX_WARM_MAX_AGE_SECONDS: '0' }, 'SANDBOX_WARM_MAX_AGE_SECONDS: Use at least 1'],
    [{ SKILLS_MAX_FILE_BYTES: 'big' }, 'SKILLS_MAX_FILE_BYTES: Use a whole number'],
  ])('refuses %j', (variables, message) => {
    expect(() => readHostConfig({ SANDBOX_SECRET, ...variables })).toThrow(new Error(message));
  });

  it('names every bad variable on a line of its own, and never a value', () => {
    const read = () => readHostConfig({ SANDBOX_SECRET: 'too short a secret', SANDBOX_PORT: 'x', SKILLS_SANDBOX_NETWORK_ENABLED: 'maybe' });
    expect(read).toThrow(/^SKILLS_SANDBOX_NETWORK_ENABLED: .+\nSANDBOX_PORT: .+\nSANDBOX_SECRET: [^\n]+$/);
    expect(read).not.toThrow(/too short a secret/);
  });
});
