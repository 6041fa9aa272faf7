import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunResult } from '../../src/contract/runs.ts';
import { type HostileRun, javascript, python, shell, startHostileHost } from '../support/hostile-host.ts';

let host: Awaited<ReturnType<typeof startHostileHost>>;
let usageBefore: ReturnType<typeof host.usage>;
beforeAll(async () => {
  host = await startHostileHost();
  await host.expectUnharmed([]);
  usageBefore = host.usage();
});
afterAll(async () => {
  const { bytes, files } = host.usage();
  expect(await host.stop()).toEqual([]);
  // Fewer than there were runs. Each container that waits has connections of its own.
  expect(files).toBeLessThan(usageBefore.files + 100);
  expect(bytes).toBeLessThan(usageBefore.bytes + 300 * MIB);
});

const MIB = 1_048_576;
/** By SIGTERM, or by SIGKILL where that takes long to arrive. */
const TIMED_OUT = { timedOut: true, killed: true, exitCode: expect.toBeOneOf([143, 137]) };
const FLOODED = { truncated: true, killed: true, timedOut: false };
const OUT_OF_MEMORY = { oomKilled: true, exitCode: 137, signal: 'SIGKILL', killed: false };
const soon = (timeoutMs: number) => ({ limits: { timeoutMs } });

interface Case {
  name: string;
  run: HostileRun;
  expected: Partial<RunResult>;
}

const processes: Case[] = [
  { name: 'a fork bomb of a shell', run: shell('b() { b | b & b; }; b', soon(1_500)), expected: {} },
  {
    name: 'a fork bomb of Python that nothing stops',
    run: python('import os\nwhile True:\n    try: os.fork()\n    except OSError: pass', soon(1_500)),
    expected: { timedOut: true, killed: true },
  },
  {
    name: 'a bomb of threads',
    run: python(
      'import threading, time\nn = 0\ntry:\n    while True:\n        threading.Thread(target=time.sleep, args=(99,), daemon=True).start(); n += 1\nexcept RuntimeError: print(60 < n < 100)',
    ),
    expected: { exitCode: 0, stdout: 'True\n' },
  },
  { name: 'an endless loop of JavaScript', run: javascript('for (;;);', soon(1_000)), expected: TIMED_OUT },
  { name: 'an endless loop of Python', run: python('while True: pass', soon(700)), expected: TIMED_OUT },
  { name: 'an endless loop of a shell', run: shell('while :; do :; done', soon(500)), expected: TIMED_OUT },
  {
    name: 'SIGTERM ignored by JavaScript',
    run: javascript('process.on("SIGTERM", () => {}); setInterval(() => {}, 9)', soon(1_500)),
    expected: { timedOut: true, killed: true, exitCode: 137 },
  },
  {
    name: 'every signal ignored by Python',
    run: python(
      'import signal, time\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nprint("on")\nwhile True: time.sleep(9)',
      soon(1_000),
    ),
    expected: { timedOut: true, killed: true, exitCode: 137, stdout: 'on\n' },
  },
  {
    name: 'SIGTERM ignored by a shell and its children',
    run: shell('trap "" TERM; sleep 60 & sleep 60', soon(500)),
    expected: { timedOut: true, killed: true, exitCode: 137 },
  },
  {
    name: 'a daemon made by forking twice, that holds the output open and writes for ever',
    run: python(
      'import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        while True:\n            open("log", "a").write("x"); time.sleep(0.01)\n    os._exit(0)\ntime.sleep(0.1)\nprint("parent")',
    ),
    expected: { exitCode: 0, stdout: 'parent\n', killed: false, files: [expect.objectContaining({ path: 'log' })] },
  },
  {
    name: 'a detached process of JavaScript',
    run: javascript('require("child_process").spawn("sleep", ["300"], { detached: true, stdio: "inherit" }).unref(); console.log("done")'),
    expected: { exitCode: 0, stdout: 'done\n' },
  },
  {
    name: 'sessions of their own that restart each other',
    run: shell('f() { setsid sh -c "trap \\"\\" TERM HUP; while :; do sleep 0.1 & wait; done" & }; f; f; f; exit 7'),
    expected: { exitCode: 7, killed: false },
  },
  {
    name: 'signals to all, and to the first process',
    run: shell('kill -STOP 1; kill -TERM 1; kill -KILL 1; kill -HUP 1; sleep 0.2; echo here; kill -STOP -1; echo and there'),
    expected: {},
  },
  {
    name: 'a first process that is overwritten',
    run: python(
      'import re\nmem = open("/proc/1/mem", "r+b", buffering=0)\nfor line in open("/proc/1/maps"):\n    m = re.match("([0-9a-f]+)-([0-9a-f]+) rw", line)\n    if m:\n        mem.seek(int(m[1], 16))\n        try: mem.write(b"\\xff" * (int(m[2], 16) - int(m[1], 16)))\n        except OSError: pass\nprint("done")',
      soon(3_000),
    ),
    expected: {},
  },
  {
    name: 'a program that stops itself',
    run: shell('kill -STOP $$', soon(500)),
    expected: { timedOut: true, killed: true },
  },
];

const resources: Case[] = [
  {
    name: 'a memory bomb of JavaScript',
    run: javascript('const a = []; for (;;) a.push(Buffer.alloc(1 << 24, 1))'),
    expected: OUT_OF_MEMORY,
  },
  { name: 'a memory bomb of Python', run: python('a = bytearray(1 << 29)'), expected: OUT_OF_MEMORY },
  {
    name: 'a memory bomb of a shell',
    run: shell('dd if=/dev/zero of=/dev/null bs=400M count=1; exit $?'),
    expected: { oomKilled: true, exitCode: 137, killed: false },
  },
  {
    name: 'a memory bomb in /tmp, /workspace and /dev/shm',
    run: python(
      'for d, n in ("/tmp", 64), ("/workspace", 64), ("/dev/shm", 16):\n    with open(d + "/x", "wb", buffering=0) as f:\n        try:\n            while True: f.write(bytes(1 << 20))\n        except OSError as e: print(d, f.tell() == n << 20, e.strerror)\na = bytearray(200 << 20)',
      { returnFiles: true },
    ),
    expected: {
      ...OUT_OF_MEMORY,
      stdout: ['/tmp', '/workspace', '/dev/shm'].map((folder) => `${folder} True No space left on device\n`).join(''),
    },
  },
  {
    name: 'a memory bomb in segments of System V, which no file system limits',
    run: python(
      'import ctypes\nc = ctypes.CDLL(None, use_errno=True)\nc.shmat.restype = ctypes.c_void_p\nfor i in range(8):\n    a = c.shmat(c.shmget(0, 64 << 20, 0o1600), None, 0)\n    ctypes.memset(a, 1, 64 << 20)\nprint("no")',
    ),
    expected: { ...OUT_OF_MEMORY, stdout: '' },
  },
  {
    name: 'a disk fill, wherever it is tried',
    run: shell(
      'for d in / /dev /run /var /var/tmp /home /root /usr /etc /proc /sys /mnt /opt; do echo x >$d/x && echo "wrote $d"; done; for i in 1 2; do dd if=/dev/zero of=/tmp/$i bs=1M count=50; done; wc -c </tmp/1; wc -c </tmp/2',
    ),
    expected: { exitCode: 0, stdout: `${50 * MIB}\n${14 * MIB}\n` },
  },
  {
    name: 'a disk fill in a container that may write',
    run: shell(
      'for d in / /run /home /srv /var /var/lib /usr /mnt; do echo x >$d/x && echo "wrote $d"; done; dd if=/dev/zero of=/var/tmp/x bs=1M count=70 && echo "wrote /var/tmp"; echo end',
      {
        limits: { readOnly: false, cpuLimit: 1_000 },
      },
    ),
    expected: { exitCode: 0, stdout: 'end\n' },
  },
  {
    name: 'all files that may be made',
    run: python(
      'n = 0\ntry:\n    while True:\n        open("/tmp/%d" % n, "w").close(); n += 1\nexcept OSError as e: print(16000 < n <= 16384, e.strerror)',
    ),
    expected: { exitCode: 0, stdout: 'True No space left on device\n' },
  },
  {
    name: 'thousands of open files',
    run: python(
      'import os, socket, select\nheld = []\ndef until(make):\n    try:\n        while True: held.append(make())\n    except OSError as e: print(len(held) < 1024, e.strerror)\nuntil(lambda: open("/dev/null"))\nheld.clear()\nuntil(os.pipe)\n[os.close(f) for p in held for f in p]; held.clear()\nuntil(socket.socketpair)\nheld.clear()\nuntil(select.epoll)',
    ),
    expected: { exitCode: 0, stdout: 'True Too many open files\n'.repeat(4) },
  },
  {
    name: 'limits that are raised again',
    run: python(
      'import resource as r\nfor name in "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_CORE":\n    try: r.setrlimit(getattr(r, name), (r.RLIM_INFINITY, r.RLIM_INFINITY)); print("raised", name)\n    except (OSError, ValueError): print(r.getrlimit(getattr(r, name)))',
    ),
    expected: { exitCode: 0, stdout: `(1024, 1024)\n(${65 * MIB}, ${65 * MIB})\n(1, 1)\n` },
  },
  {
    name: 'a program that is started with more arguments than fit',
    run: python(
      'import os, subprocess\nprint(subprocess.run(["echo", *["x" * 100_000] * 5], capture_output=True).stdout.count(b"x"))\nos.execv("/bin/true", ["true", *["x" * 130_000] * 100])',
    ),
    expected: { exitCode: 1, stdout: '500000\n', stderr: expect.stringContaining('Argument list too long') },
  },
];

const output: Case[] = [
  { name: 'a flood on both streams', run: shell('yes & yes no >&2'), expected: FLOODED },
  {
    name: 'a flood of JavaScript',
    run: javascript('const x = "x".repeat(65536); for (;;) { fs = require("fs"); fs.writeSync(1, x); fs.writeSync(2, x); }'),
    expected: { ...FLOODED, stdout: 'x'.repeat(100_000) },
  },
  {
    name: 'a flood by many processes',
    run: python('import os\nfor i in range(5): os.fork()\nwhile True: os.write(1, b"y" * 4096); os.write(2, b"z" * 4096)'),
    expected: FLOODED,
  },
  {
    name: 'a program that closes its output and lives on',
    run: python('import os, time\nprint("before")\nos.closerange(0, 1024)\ntime.sleep(60)', soon(700)),
    expected: { ...TIMED_OUT, stdout: 'before\n' },
  },
  {
    name: 'a program that closes its output and ends later',
    run: shell('echo before; exec >&- 2>&- <&-; sleep 0.3; exit 3'),
    expected: { exitCode: 3, stdout: 'before\n', killed: false },
  },
  {
    name: 'JavaScript that closes its output and lives on',
    run: javascript('console.log("before"); require("fs").closeSync(1); require("fs").closeSync(2); setInterval(() => {}, 9)', soon(1_500)),
    expected: { ...TIMED_OUT, stdout: 'before\n' },
  },
  {
    name: 'a program that writes to the output of the first process',
    run: shell('echo one >/proc/1/fd/1; echo two >/proc/1/fd/2; cat /proc/1/fd/0; echo three'),
    expected: { exitCode: 0, stdout: 'one\nthree\n' },
  },
  {
    name: 'binary output and broken UTF-8',
    run: python(
      'import os\nos.write(1, bytes(range(256)) * 3 + b"\\xe2\\x82")\nos.write(2, b"\\xff\\xfe\\x00\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xc0\\xaf" + "\\U0001f600".encode()[:3])',
    ),
    expected: {
      exitCode: 0,
      stdout: new TextDecoder().decode(
        Buffer.concat([...Array(3).fill(Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))), Buffer.from([0xe2, 0x82])]),
      ),
      stderr: new TextDecoder().decode(Buffer.from('fffe00eda080f4908080c0aff09f98', 'hex')),
    },
  },
  {
    name: 'a character in pieces, one byte at a time',
    run: python('import os, time\nfor b in "ü€😀".encode(): os.write(1, bytes([b])); time.sleep(0.02)'),
    expected: { exitCode: 0, stdout: 'ü€😀' },
  },
  {
    name: 'a line of a megabyte',
    run: javascript('process.stdout.write("x".repeat(1 << 20))'),
    expected: { truncated: true, stdout: 'x'.repeat(100_000), timedOut: false },
  },
  {
    name: 'a megabyte in lines of one character',
    run: python('print("\\n" * (1 << 20), end="")'),
    expected: { truncated: true, stdout: '\n'.repeat(100_000), timedOut: false },
  },
  {
    name: 'a million writes of nothing much',
    run: python('import os\nwhile True: os.write(1, b"x")', { limits: { maxOutputChars: 2_000 } }),
    expected: { ...FLOODED, stdout: 'x'.repeat(2_000) },
  },
  { name: 'Python that waits for input', run: python('input("name? ")'), expected: { exitCode: 1, stdout: 'name? ' } },
  {
    name: 'JavaScript that reads its input',
    run: javascript('console.log(require("fs").readFileSync(0).length)'),
    expected: { exitCode: 0, stdout: '0\n' },
  },
  {
    name: 'commands that read for as long as there is something',
    run: shell('cat | wc -c; cat; cat </dev/stdin; read x; echo "[$x]"', { stdin: 'line\n'.repeat(300_000) }),
    expected: { exitCode: 0, stdout: '1500000\n[]\n' },
  },
  {
    name: 'a command that does not read its input',
    run: shell('sleep 0.2; echo done', { stdin: 'x'.repeat(4 * MIB) }),
    expected: { exitCode: 0, stdout: 'done\n' },
  },
];

describe.concurrent.each([
  ['processes', processes],
  ['resources', resources],
  ['output', output],
])('hostile %s', (_, cases) => {
  it.each(cases.map(({ name, ...rest }) => [name, rest] as const))('%s', async (_, { run, expected }) => {
    const results = await host.runBoth(run);
    for (const result of results) expect(result).toMatchObject(expected);
    await host.expectUnharmed(results);
  });
});

describe('a command line', () => {
  it('may be huge', async () => {
    const words = Array.from({ length: 996 }, (_, index) => `${index}`.padEnd(1_800, 'x'));
    const result = await host.run({
      image: 'alpine:3.20',
      command: ['sh', '-c', `echo "$# \${#LONG} $1"; echo "$*" | wc -c`, 'sh', ...words],
      env: { LONG: 'y'.repeat(131_066) },
    });
    expect(result).toMatchObject({ exitCode: 0, stdout: `996 131066 ${words[0]}\n${996 * 1_801}\n` });
  });

  it('is refused when it does not fit', async () => {
    const response = await host.post({ image: 'alpine:3.20', command: ['echo', ...Array<string>(20).fill('x'.repeat(131_071))] });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ code: 'invalid_request', error: 'Command and environment are too long together' });
    await host.expectUnharmed([]);
  });
});
