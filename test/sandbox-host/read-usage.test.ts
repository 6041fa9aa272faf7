import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readUsage } from '../../sandbox-host/read-usage.ts';

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true });
});

/** A folder that holds these files of a machine. */
function machine(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'omniroute-usage-'));
  roots.push(root);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

describe('readUsage', () => {
  it('reads the first version of control groups', async () => {
    const root = machine({
      'proc/7/cgroup': '9:name=systemd:/docker/a\n4:memory:/docker/a\n2:cpu,cpuacct:/docker/a\n0::/docker/a\n',
      'sys/fs/cgroup/cpu,cpuacct/docker/a/cpuacct.usage': '1234567\n',
      'sys/fs/cgroup/memory/docker/a/memory.max_usage_in_bytes': '4096\n',
    });
    expect(await readUsage(7, root)).toEqual({ cpuMs: 1.234567, maxMemoryBytes: 4_096 });
  });

  it('reads the second version', async () => {
    const root = machine({
      'proc/7/cgroup': '0::/system.slice/docker-a.scope\n',
      'sys/fs/cgroup/system.slice/docker-a.scope/cpu.stat': 'usage_usec 1500\nuser_usec 1000\n',
      'sys/fs/cgroup/system.slice/docker-a.scope/memory.peak': '8192\n',
    });
    expect(await readUsage(7, root)).toEqual({ cpuMs: 1.5, maxMemoryBytes: 8_192 });
  });

  it('knows nothing of what it cannot see, or understand', async () => {
    expect(await readUsage(7, machine({}))).toEqual({});
    expect(
      await readUsage(
        7,
        machine({ 'proc/7/cgroup': '0::/a\n', 'sys/fs/cgroup/a/cpu.stat': 'odd\n', 'sys/fs/cgroup/a/memory.peak': 'max\n' }),
      ),
    ).toEqual({});
  });
});
