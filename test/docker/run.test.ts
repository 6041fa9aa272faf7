import { afterAll, describe, expect, it, vi } from 'vitest';
import { SUPERVISOR, supervisorOrders } from '../../sandbox-host/supervisor.ts';
import { createTestHost, newRunId } from '../support/docker.ts';

const { host, run, containers } = createTestHost();
afterAll(() => host.drain(0));

const base64 = (text: string) => Buffer.from(text).toString('base64');
const ALPINE = 'alpine:3.20';
const NODE = 'node:22-alpine';
const PYTHON = 'python:3.12-alpine';

describe('a run', () => {
  it('returns what the program wrote and how it ended', async () => {
    const result = await run(ALPINE, ['sh', '-c', 'echo out; echo err >&2; exit 3']);
    expect(result).toMatchObject({
      exitCode: 3,
      stdout: 'out\n',
      stderr: 'err\n',
      truncated: false,
      timedOut: false,
      oomKilled: false,
      killed: false,
      warm: false,
      files: [],
    });
    expect(result.skippedFiles).toBeUndefined();
  });

  it.each([
    [ALPINE, ['echo', '-n', 'hi'], 'hi'],
    [NODE, ['node', '--eval', 'console.log(6 * 7)'], '42\n'],
    [PYTHON, ['python3', '-c', 'print(6 * 7)'], '42\n'],
  ])('works in %s', async (image, command, stdout) => {
    expect(await run(image, command)).toMatchObject({ exitCode: 0, stdout, stderr: '' });
  });

  it('passes arguments as they are, however odd', async () => {
    const words = ['', ' a  b ', "'", '"', '$HOME', '`id`', '*', '\n', '\\', 'ü€😀', '-n'];
    const { stdout } = await run(NODE, ['node', '--eval', 'console.log(JSON.stringify(process.argv.slice(1)))', '--', ...words]);
    expect(JSON.parse(stdout)).toEqual(words);
  });

  it('gives the program its stdin to the end', async () => {
    const stdin = `${'line of input\n'.repeat(20_000)}the end ü`;
    const result = await run(ALPINE, ['sh', '-c', 'cat | md5sum; cat | wc -c'], { stdin });
    const { createHash } = await import('node:crypto');
    expect(result.stdout).toBe(`${createHash('md5').update(stdin).digest('hex')}  -\n0\n`);
  });

  it('ends a program that reads no stdin all the same', async () => {
    expect(await run(ALPINE, ['echo', 'hi'], { stdin: 'x'.repeat(1_000_000) })).toMatchObject({ stdout: 'hi\n', exitCode: 0 });
  });

  it('gives an empty stdin when there is none', async () => {
    expect(await run(PYTHON, ['python3', '-c', 'import sys; print(repr(sys.stdin.read()))'])).toMatchObject({ stdout: "''\n" });
  });

  it('passes the environment of the run and nothing of the host', async () => {
    process.env.OMNIROUTE_TEST_MARK = 'must not get in';
    const { stdout } = await run(ALPINE, ['env'], { env: { GREETING: 'hello "you" $HOME', HOME: '/tmp', status: 'mine' } });
    const lines = stdout.trim().split('\n');
    expect(lines).toContain('GREETING=hello "you" $HOME');
    expect(lines).toContain('HOME=/tmp');
    expect(lines).toContain('status=mine');
    expect(stdout).not.toContain('OMNIROUTE');
    expect(stdout).not.toContain('omr_');
  });

  it('tells a program that is not there by exit code 127', async () => {
    const result = await run(ALPINE, ['no-such-program']);
    expect(result.exitCode).toBe(127);
    expect(result.stderr).toContain('no-such-program: not found');
  });

  it('tells exit codes as they are, also by signal', async () => {
    expect(await run(ALPINE, ['sh', '-c', 'kill -9 $$'])).toMatchObject({ exitCode: 137, signal: 'SIGKILL', killed: false });
    expect(await run(ALPINE, ['sh', '-c', 'kill -ABRT $$'])).toMatchObject({ exitCode: 134, signal: 'SIGABRT' });
    const exited = await run(ALPINE, ['sh', '-c', 'exit 137']);
    expect(exited).toMatchObject({ exitCode: 137, killed: false });
    expect(exited.signal).toBeUndefined();
    expect((await run(ALPINE, ['sh', '-c', 'exit 255'])).signal).toBeUndefined();
  });

  it('tells what the program took', async () => {
    const script = 'x = bytearray(50 << 20)\nimport time\nwhile time.process_time() < 0.3: pass';
    const busy = await run(PYTHON, ['python3', '-c', script], { limits: { cpuLimit: 1_000 } });
    expect(busy.cpuMs).toBeGreaterThan(250);
    expect(busy.maxMemoryBytes).toBeGreaterThan(50 << 20);
    expect(busy.maxMemoryBytes).toBeLessThan(128 << 20);
    const killed = await run(PYTHON, ['python3', '-c', `import signal\nsignal.signal(15, signal.SIG_IGN)\n${script}\nwhile True: pass`], {
      limits: { cpuLimit: 1_000, timeoutMs: 1_500 },
    });
    expect(killed).toMatchObject({ timedOut: true, signal: 'SIGKILL' });
    expect(killed.cpuMs).toBeGreaterThan(250);
    expect(killed.maxMemoryBytes).toBeGreaterThan(50 << 20);
    const idle = await run(ALPINE, ['sleep', '0.5']);
    expect(idle.cpuMs).toBeLessThan(busy.cpuMs ?? 0);
    expect(idle.maxMemoryBytes).toBeLessThan(50 << 20);
  });

  it('does not wait for what the program left in the background', async () => {
    const result = await run(ALPINE, ['sh', '-c', 'sleep 50 & yes > /tmp/x & echo done'], { returnFiles: true });
    expect(result).toMatchObject({ exitCode: 0, stdout: 'done\n', timedOut: false });
  });

  it('decodes UTF-8 and replaces what is none', async () => {
    const text = 'aü€😀';
    const good = await run(PYTHON, [
      'python3',
      '-c',
      `import sys,time\nfor b in ${JSON.stringify(text)}.encode(): sys.stdout.buffer.write(bytes([b])); sys.stdout.flush(); time.sleep(0.005)`,
    ]);
    expect(good.stdout).toBe(text);
    const broken = await run(ALPINE, ['printf', 'a\\377b\\000c\\342\\202']);
    expect(broken.stdout).toBe('a\ufffdb\0c\ufffd');
  });

  it('hands out output while the program runs', async () => {
    const seen: string[] = [];
    const id = newRunId();
    const running = run(ALPINE, ['sh', '-c', 'echo first; sleep 30'], { id, onOutput: (stream, text) => seen.push(`${stream}:${text}`) });
    await vi.waitFor(() => expect(seen).toEqual(['stdout:first\n']), { timeout: 20_000 });
    host.runner.kill(id);
    expect(await running).toMatchObject({ stdout: 'first\n', killed: true, timedOut: false, exitCode: 137 });
  });

  it('leaves no container', async () => {
    await run(ALPINE, ['true']);
    await vi.waitFor(async () => expect(await containers()).toEqual([]), { timeout: 10_000 });
    expect(host.runner.runningContainers).toEqual([]);
  });

  it('refuses an image that is not there without a pull', async () => {
    await expect(run('omniroute.invalid/none:1', ['true'])).rejects.toMatchObject({
      code: 'image_missing',
      message: 'Sandbox image is not installed on this host: omniroute.invalid/none:1',
    });
  });
});

describe('the supervisor', () => {
  it.each([
    ['of the second version', ['cpu.stat', 'memory.events', 'memory.peak'], 'innerS7000\nerr\ninner3 2 0 123456\n'],
    ['of a whole machine', ['cpu.stat'], 'innerS-1\nerr\ninner3 0 -1 -1\n'],
  ])('reads control groups %s', async (_, names, stderr) => {
    const content: Record<string, string> = {
      'cpu.stat': 'usage_usec 7000\nuser_usec 5000\nsystem_usec 2000\n',
      'memory.events': 'low 0\nhigh 0\nmax 5\noom 2\noom_kill 2\noom_group_kill 0\n',
      'memory.peak': '123456\n',
    };
    const files = names.map((name) => ({ path: `groups/${name}`, contentBase64: base64(content[name] ?? '') }));
    // In a container of its own: it kills whatever it can.
    const script = SUPERVISOR.replaceAll('/sys/fs/cgroup', '/workspace/groups');
    const stdin = supervisorOrders('inner', { files: [], returnFiles: false }).toString();
    const result = await run(ALPINE, ['sh', '-c', script, 'omniroute', 'sh', '-c', 'echo out; echo err >&2; exit 3'], { files, stdin });
    expect(result).toMatchObject({ exitCode: 0, stdout: 'out\ninner', stderr });
  });
});

describe('files', () => {
  it('go in and come back when they are new or changed', async () => {
    const files = [
      { path: 'in/data.csv', contentBase64: base64('a,b\n1,2\n') },
      { path: 'same.txt', contentBase64: base64('same') },
      { path: 'touched.txt', contentBase64: base64('old') },
    ];
    const script =
      'cat in/data.csv; echo new > touched.txt; touch same.txt; mkdir -p out/deep; printf "\\000\\377" > out/deep/x.bin; : > empty';
    const result = await run(ALPINE, ['sh', '-c', script], { files, returnFiles: true });
    expect(result.stdout).toBe('a,b\n1,2\n');
    expect(result.files.toSorted((a, b) => a.path.localeCompare(b.path))).toEqual([
      { path: 'empty', contentBase64: '' },
      { path: 'out/deep/x.bin', contentBase64: 'AP8=' },
      { path: 'touched.txt', contentBase64: base64('new\n') },
    ]);
  });

  it('go in, in numbers, with long and odd names and large content', async () => {
    const long = `${'d'.repeat(120)}/${'é'.repeat(100)}.txt`;
    const files = [
      { path: long, contentBase64: base64('long') },
      { path: '-rf', contentBase64: base64('dash') },
      { path: 'it\'s "odd"\n*.txt', contentBase64: base64('odd') },
      { path: 'big.bin', contentBase64: Buffer.alloc(3_000_001, 7).toString('base64') },
      ...Array.from({ length: 300 }, (_, index) => ({ path: `many/${index}`, contentBase64: base64(`${index}`) })),
    ];
    const script =
      'find . -type f -print0 | tr -dc "\\0" | wc -c; cat ./-rf ./it*; cat d*/*; wc -c < big.bin; cat many/299; cd d*; mv *.txt moved-$(printf x%.0s $(seq 90))';
    const result = await run(ALPINE, ['sh', '-c', script], { files, returnFiles: true, stdin: 'unread' });
    expect(result.stdout).toBe('304\ndashoddlong3000001\n299');
    expect(result.files).toEqual([{ path: `${'d'.repeat(120)}/moved-${'x'.repeat(90)}`, contentBase64: base64('long') }]);
  });

  it('are named with the reason when they do not come back', async () => {
    const program = `
import os
os.symlink('/etc/passwd', 'link'); os.symlink('/', 'folder-link'); os.mkfifo('pipe')
open('a', 'w').write('x'); os.link('a', 'b')
open('large', 'wb').write(bytes(1001)); open('fits', 'wb').write(bytes(1000))
open(b'caf\\xe9.txt', 'w').write('x')
os.makedirs('d' * 200 + '/' + 'e' * 200); open('d' * 200 + '/' + 'e' * 200 + '/' + 'f' * 150, 'w')`;
    const result = await run(PYTHON, ['python3', '-c', program], { returnFiles: true, limits: { maxFileBytes: 1_000 } });
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    const saved = result.files.map(({ path }) => path);
    expect(saved).toHaveLength(2);
    expect(saved).toContain('fits');
    const link = saved.includes('a') ? 'b' : 'a';
    expect(result.skippedFiles?.toSorted((one, other) => (one.path < other.path ? -1 : 1))).toEqual([
      { path: link, reason: 'It is a hard link to another file' },
      { path: 'caf\\xe9.txt', reason: 'Its name is not UTF-8' },
      { path: `${'d'.repeat(200)}/${'e'.repeat(200)}/${'f'.repeat(109)}…`, reason: 'Its path is longer than 512 bytes' },
      { path: 'folder-link', reason: 'It is a symbolic link' },
      { path: 'large', reason: 'It is larger than 1000 bytes' },
      { path: 'link', reason: 'It is a symbolic link' },
      { path: 'pipe', reason: 'It is a named pipe' },
    ]);
    expect(result.skippedFileCount).toBe(7);
  });

  it('come back also when the program took its own right to read them', async () => {
    const script = 'echo x > a; mkdir d; echo y > d/b; chmod 0 a d/b d';
    const result = await run(ALPINE, ['sh', '-c', script], { returnFiles: true });
    expect(result.files.map(({ path }) => path).toSorted()).toEqual(['a', 'd/b']);
    expect(result.skippedFileCount).toBeUndefined();
  });

  it('come back up to 1,000, and the others are counted', async () => {
    const result = await run(ALPINE, ['sh', '-c', 'i=0; while [ $i -lt 1105 ]; do : > f$i; i=$((i+1)); done'], { returnFiles: true });
    expect(result.files).toHaveLength(1_000);
    expect(result.skippedFiles).toHaveLength(100);
    expect(result.skippedFiles?.[0]?.reason).toBe('The run left more than 1000 files');
    expect(result.skippedFileCount).toBe(105);
  });

  it('come back up to 16 MiB, and the others are named', async () => {
    const script = 'i=0; while [ $i -lt 60 ]; do head -c 1048576 /dev/zero > f$i; i=$((i+1)); done';
    const result = await run(ALPINE, ['sh', '-c', script], { returnFiles: true, limits: { cpuLimit: 1_000 } });
    expect(result).toMatchObject({ exitCode: 0, killed: false });
    expect(result.files).toHaveLength(16);
    expect(result.skippedFiles).toHaveLength(44);
    expect(result.skippedFileCount).toBe(44);
    expect(result.skippedFiles?.[0]?.reason).toBe('The files of the run are larger than 16777216 bytes together');
  });

  it('are told to be lost when the run is ended before they are read', async () => {
    const result = await run(ALPINE, ['sh', '-c', 'echo x > a; trap "" TERM; while :; do :; done'], {
      returnFiles: true,
      limits: { timeoutMs: 500 },
    });
    expect(result).toMatchObject({
      timedOut: true,
      files: [],
      skippedFiles: [{ path: '.', reason: 'The run was ended before its files were read' }],
      skippedFileCount: 1,
    });
  });

  it('do not come back unless they are asked for', async () => {
    expect((await run(ALPINE, ['sh', '-c', 'echo x > a'])).files).toEqual([]);
  });

  it('are refused when they contradict each other', async () => {
    const files = [
      { path: 'a', contentBase64: '' },
      { path: 'a/b', contentBase64: '' },
    ];
    await expect(run(ALPINE, ['true'], { files })).rejects.toMatchObject({
      code: 'payload_too_large',
      message: 'The files do not fit into the workspace',
    });
  });
});
