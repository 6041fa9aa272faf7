import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { socketPath } from '../support/docker.ts';
import { python, startHostileHost } from '../support/hostile-host.ts';

let host: Awaited<ReturnType<typeof startHostileHost>>;
beforeAll(async () => {
  host = await startHostileHost();
});
afterAll(async () => expect(await host.stop()).toEqual([]));

const programOf = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8');
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

describe('the kernel', () => {
  it('refuses every way out, and to change the machine', async () => {
    const results = await host.runBoth(python(programOf('escapes.py')));
    for (const { stdout, stderr } of results) {
      expect(stderr).toBe('');
      const { done, calls } = JSON.parse(stdout) as { done: string[]; calls: Record<string, number> };
      expect(done).toEqual([]);
      const { sync, io_uring_setup, userfaultfd, name_to_handle_at, 'clone3 for a namespace': clone3, ...others } = calls;
      expect({ io_uring_setup, userfaultfd, name_to_handle_at, clone3 }).toEqual({
        io_uring_setup: ENOSYS,
        userfaultfd: ENOSYS,
        name_to_handle_at: ENOSYS,
        clone3: ENOSYS,
      });
      expect(sync).toBe(0);
      expect(Object.keys(others).length).toBeGreaterThan(30);
      expect(others).toEqual(Object.fromEntries(Object.keys(others).map((name) => [name, EPERM])));
    }
    await host.expectUnharmed(results);
  });
});

interface Answers {
  /** By the number of the call; null where the process died. */
  numbers: (number | null)[];
  named: Record<string, number | null>;
  other: Record<string, number | null>;
}

const PROGRAM = programOf('system-calls.py');

/** What the program finds in a container with the profile that the installed Docker has of its own. */
async function underDockersProfile(): Promise<Answers> {
  const options = ['--network', 'none', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--user', '65534:65534', '--read-only'];
  const run = ['-H', `unix://${socketPath}`, 'run', '--rm', '-i', '--pull', 'never', ...options];
  const child = spawn('/usr/bin/docker', [...run, 'python:3.12-alpine', 'python3', '-'], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(PROGRAM);
  return JSON.parse(await text(child.stdout)) as Answers;
}

async function underOurs(): Promise<Answers> {
  const result = await host.run(python(PROGRAM, { limits: { cpuLimit: 1_000 } }));
  expect(result).toMatchObject({ exitCode: 0, stderr: '' });
  return JSON.parse(result.stdout) as Answers;
}

describe('the seccomp profile', () => {
  let docker: Answers;
  let ours: Answers;
  beforeAll(async () => {
    [docker, ours] = await Promise.all([underDockersProfile(), underOurs()]);
  });
  const refusals: (number | null)[] = [EPERM, ENOSYS, EAFNOSUPPORT, null];

  it("lets through nothing that the installed Docker's own profile refuses", () => {
    expect(ours.numbers.length).toBe(docker.numbers.length);
    const looser = ours.numbers.flatMap((answer, number) =>
      refusals.includes(docker.numbers[number] ?? null) && !refusals.includes(answer) ? [number] : [],
    );
    expect(looser).toEqual([]);
    const looserNamed = Object.keys(ours.named).filter(
      (name) => refusals.includes(docker.named[name] ?? null) && !refusals.includes(ours.named[name] ?? null),
    );
    expect(looserNamed).toEqual([]);
  });

  it('refuses more', () => {
    const tighter = ours.numbers.flatMap((answer, number) =>
      refusals.includes(answer) && !refusals.includes(docker.numbers[number] ?? null) ? [number] : [],
    );
    expect(tighter.length).toBeGreaterThan(5);
  });

  it('takes calls that are newer than itself for ones that do not exist', () => {
    const newest = ours.numbers.slice(450);
    expect(newest).toEqual(newest.map(() => ENOSYS));
  });

  it('looks at arguments', () => {
    const { 'socket IPv6': ipv6, ...named } = ours.named;
    expect([0, EAFNOSUPPORT]).toContain(ipv6);
    expect(named).toEqual({
      'socket local': 0,
      'socket IPv4': 0,
      'socket netlink routes': 0,
      'socket unspecified': EAFNOSUPPORT,
      'socket raw': EPERM,
      'socket raw IPv6': expect.toBeOneOf([EPERM, EAFNOSUPPORT]),
      'socket netlink netfilter': EPERM,
      'socket netlink audit': EPERM,
      ...Object.fromEntries(
        ['X.25', 'packet', 'RDS', 'CAN', 'TIPC', 'Bluetooth', 'crypto', 'VSOCK', 'XDP', 'high bits'].map((family) => [
          `socket ${family}`,
          EAFNOSUPPORT,
        ]),
      ),
      'socketpair TIPC': EPERM,
      ...Object.fromEntries(['mount', 'cgroup', 'uts', 'ipc', 'user', 'pid', 'net'].map((kind) => [`clone ${kind}`, EPERM])),
      'unshare user': EPERM,
      'personality query': 0,
      'personality without random addresses': EPERM,
      'personality readable code': EPERM,
      'personality 32 bit': EPERM,
      ptrace: EPERM,
      memfd_create: ENOSYS,
    });
  });

  it('ends programs that call the kernel the 32-bit way', () => {
    expect(ours.other).toEqual({ '32 bit': null, x32: null });
  });
});
