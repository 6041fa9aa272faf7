import { afterAll, describe, expect, it, vi } from 'vitest';
import { AdmissionQueue } from '../../sandbox-host/admission-queue.ts';
import { createColdSource } from '../../sandbox-host/container-source.ts';
import { runProgram } from '../../sandbox-host/run-program.ts';
import { SandboxRunner } from '../../sandbox-host/sandbox-runner.ts';
import { type RunResult, runLimits } from '../../src/contract/runs.ts';
import { createTestHost, newRunId, type TestRun } from '../support/docker.ts';
import { whenWarm } from '../support/warm.ts';

/** Every run gets a container of its own, started with all that the run needs: what the others are compared with. */
const reference = createTestHost();
/** No container waits, but one is made by the same way. */
const fresh = createTestHost();
const warm = createTestHost({ SANDBOX_WARM_MIN: '1', SANDBOX_WARM_MAX: '12' });
warm.host.warmUp();
afterAll(() => Promise.all([fresh.host.drain(0), warm.host.drain(0), runner.killAll()]));

const { engine } = reference;
const runner = new SandboxRunner({
  engine,
  source: createColdSource(engine, { hostId: reference.hostId, bootId: 'conformance' }),
  queue: new AdmissionQueue({ maxConcurrent: 4, maxQueue: 10 }),
  drive: (...run) => runProgram(engine, ...run),
});

interface Case {
  name: string;
  image: string;
  command: string[];
  run?: TestRun;
  /** What the result has to be in any case, so that two wrong ones do not pass for equal. */
  expected: Partial<RunResult>;
}

const runCold = (image: string, command: string[], { env = {}, limits, ...config }: TestRun) =>
  runner.run(image, command, env, {
    ...{ id: newRunId(), stdin: '', files: [], returnFiles: false },
    ...config,
    limits: runLimits.parse(limits ?? {}),
  });

/**
 * Runs until the container was waiting, which it is from the third run of a kind on, or a little later: a kind that has more than it needs by now can
 * hide for a moment that this one lacks some.
 */
const runWarm = (image: string, command: string[], config: TestRun): Promise<RunResult> =>
  vi.waitFor(
    async () => {
      await whenWarm(warm.host);
      const result = await warm.run(image, command, config);
      if (!result.warm) throw new Error('No container was waiting');
      return result;
    },
    { timeout: 30_000, interval: 20 },
  );

/** All that may not differ. Which process id a program gets is up to how many threads the container runtime happened to have. */
const comparable = ({ id: _, durationMs, queuedMs, warm: __, cpuMs, maxMemoryBytes, files, stderr, ...rest }: RunResult) => ({
  ...rest,
  stderr: stderr.replace(/^\(node:\d+\)/gm, ''),
  files: files.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
  told: [typeof durationMs, typeof queuedMs, typeof cpuMs, typeof maxMemoryBytes],
});

const NODE = { image: 'node:22-alpine', command: ['node', '-'] };
const PYTHON = { image: 'python:3.12-alpine', command: ['python3', '-'] };
const shell = (script: string) => ({ image: 'alpine:3.20', command: ['sh', '-c', script] });
const javascript = (stdin: string, run: TestRun = {}) => ({ ...NODE, run: { stdin, returnFiles: true, ...run } });
const python = (stdin: string, run: TestRun = {}) => ({ ...PYTHON, run: { stdin, returnFiles: true, ...run } });
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** What the kernel knows of a process, and what it could look at. */
const PROCESS_FILES = ['/proc/self/limits', '/proc/self/oom_score_adj', '/proc/self/mountinfo', '/proc/self/environ', '/proc/self/cmdline'];
const CONTAINER_FILES = ['/sys/fs/cgroup/cpu/cpu.cfs_quota_us', '/sys/fs/cgroup/cpu.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes'];

const LOOK_AROUND_JS = `
const fs = require('fs'), os = require('os');
const read = (path) => { try { return fs.readFileSync(path, 'latin1'); } catch (error) { return error.code; } };
const status = read('/proc/self/status').split('\\n').filter((line) => /^(Name|Umask|Uid|Gid|Groups|Sig[PBIC]|Shd|Cap|NoNew|Seccomp|Threads)/.test(line));
const fds = fs.readdirSync('/proc/self/fd').map((fd) => { try { return fd + ' ' + fs.readlinkSync('/proc/self/fd/' + fd).replace(/\\d+/, ''); } catch { return ''; } });
console.log(JSON.stringify({
  argv: process.argv, execArgv: process.execArgv, execPath: process.execPath, env: process.env, cwd: process.cwd(), umask: process.umask(),
  ppid: process.ppid, title: process.title, main: require.main === module, mainId: require.main?.id, file: __filename, dir: __dirname,
  paths: module.paths, parents: module.parent, globals: Object.getOwnPropertyNames(globalThis), stdin: process.stdin.constructor.name, tty: process.stdin.isTTY,
  listeners: process.eventNames().map(String), report: process.features, versions: process.versions, home: os.homedir(), user: os.userInfo(), host: os.hostname(),
  status, fds, workspace: fs.readdirSync('/workspace'), tmp: fs.readdirSync('/tmp'),
  files: ${JSON.stringify([...PROCESS_FILES, ...CONTAINER_FILES])}.map((path) => read(path).replace(/lowerdir=\\S*|[0-9a-f]{64}|\\d+ \\d+ \\d+:\\d+|master:\\d+/g, '').split('\\n').sort()),
}, null, 1));`;

const LOOK_AROUND_PY = `
import os, re, signal, sys, threading, json, locale
def read(path):
    try: return open(path, encoding='latin1').read()
    except OSError as error: return error.errno
status = [line for line in read('/proc/self/status').split('\\n') if re.match('(Name|Umask|Uid|Gid|Groups|Sig[PBIC]|Shd|Cap|NoNew|Seccomp|Threads)', line)]
fds = []
for fd in sorted(os.listdir('/proc/self/fd')):
    try: fds.append(fd + ' ' + re.sub(r'\\d+', '', os.readlink('/proc/self/fd/' + fd)))
    except OSError: pass
print(json.dumps(dict(
    argv=sys.argv, orig=sys.orig_argv, name=__name__, file=globals().get('__file__'), spec=repr(__spec__), loader=repr(__loader__), builtins=sorted(globals()),
    path=sys.path, flags=repr(sys.flags), executable=sys.executable, env=dict(os.environ), cwd=os.getcwd(), ppid=os.getppid(),
    sid=os.getsid(0), pgid=os.getpgid(0), modules=sorted(sys.modules), threads=threading.active_count(),
    stdin=[sys.stdin.name, sys.stdin.encoding, sys.stdin.isatty(), sys.stdin.read()], stdout=[sys.stdout.encoding, sys.stdout.errors, sys.stdout.line_buffering],
    signals=[str(signal.getsignal(number)) for number in range(1, 32)], locale=locale.getlocale(), main=repr(sys.modules['__main__']), status=status, fds=fds,
    files=[sorted(re.sub('lowerdir=\\S*|[0-9a-f]{64}|[0-9]+ [0-9]+ [0-9]+:[0-9]+|master:[0-9]+', '', str(read(path))).split('\\n')) for path in ${JSON.stringify([...PROCESS_FILES, ...CONTAINER_FILES])}],
    workspace=os.listdir('/workspace'), tmp=os.listdir('/tmp')), indent=1))`;

const LOOK_AROUND_SH = `
echo "$0 $# $*"; id; pwd; env | sort; echo $PPID; umask; ulimit -a; ls -l /proc/self/fd | sed 's/.* //;s/[0-9][0-9]*//g'; ls -A /workspace /tmp
grep -E '^(Name|Umask|Uid|Gid|Groups|Sig[PBIC]|Shd|Cap|NoNew|Seccomp|Threads)' /proc/self/status; cat /proc/self/oom_score_adj
cat ${CONTAINER_FILES.join(' ')} 2>/dev/null; trap; jobs; set | grep omr_; hostname`;

const cases: Case[] = [
  { name: 'javascript: all that a program can see of its place', ...javascript(LOOK_AROUND_JS), expected: { exitCode: 0, stderr: '' } },
  { name: 'javascript: nothing', ...javascript(''), expected: { exitCode: 0, stdout: '', stderr: '' } },
  { name: 'javascript: output without a line end, in UTF-8', ...javascript('process.stdout.write("ü€😀")'), expected: { stdout: 'ü€😀' } },
  {
    name: 'javascript: an uncaught error',
    ...javascript('\n\nfunction f() { throw new TypeError("no"); }\nf();'),
    expected: { exitCode: 1 },
  },
  { name: 'javascript: a syntax error', ...javascript('const a = ;'), expected: { exitCode: 1, stdout: '' } },
  { name: 'javascript: an unhandled rejection', ...javascript('Promise.reject(new Error("later"))'), expected: { exitCode: 1 } },
  { name: 'javascript: a warning', ...javascript('process.emitWarning("careful"); new Buffer(1)'), expected: { exitCode: 0 } },
  {
    name: 'javascript: its own exit code',
    ...javascript('process.on("exit", () => console.log("bye")); process.exit(137)'),
    expected: { exitCode: 137, stdout: 'bye\n' },
  },
  {
    name: 'javascript: an ES module',
    ...javascript('import { readFile } from "node:fs/promises"; console.log(typeof readFile, import.meta.url, await Promise.resolve(7));'),
    expected: { exitCode: 0, stdout: expect.stringContaining('function') },
  },
  {
    name: 'javascript: reads its standard input, which is at its end',
    ...javascript('process.stdin.on("data", (chunk) => console.log("data", chunk.length)).on("end", () => console.log("end"))'),
    expected: { exitCode: 0 },
  },
  {
    name: 'javascript: a signal of its own',
    ...javascript('process.kill(process.pid, "SIGSEGV"); setTimeout(() => {}, 5000)'),
    expected: { signal: 'SIGSEGV', exitCode: 139 },
  },
  { name: 'javascript: aborts', ...javascript('process.abort()'), expected: { signal: 'SIGABRT', exitCode: 134 } },
  {
    name: 'javascript: a timeout that it handles',
    ...javascript('process.on("SIGTERM", () => { console.log("term"); process.exit(9); }); console.log("on"); setInterval(() => {}, 9)', {
      limits: { timeoutMs: 2_000 },
    }),
    expected: { timedOut: true, killed: true, exitCode: 9, stdout: 'on\nterm\n' },
  },
  {
    name: 'javascript: a timeout that it does not handle',
    ...javascript('console.log("on"); for (;;);', { limits: { timeoutMs: 2_000 } }),
    expected: { timedOut: true, killed: true, signal: 'SIGTERM', exitCode: 143, stdout: 'on\n' },
  },
  {
    name: 'javascript: too much output',
    ...javascript('for (;;) console.log("x".repeat(99))', { limits: { maxOutputChars: 1_000 } }),
    expected: { truncated: true, killed: true },
  },
  {
    name: 'javascript: too much memory',
    ...javascript('const a = []; for (;;) a.push(Buffer.alloc(1 << 24, 1))', {
      limits: { cpuLimit: 1_000 },
    }),
    expected: { signal: 'SIGKILL', oomKilled: true, killed: false },
  },
  {
    name: 'javascript: files that it leaves',
    ...javascript(
      'fs = require("fs"); fs.mkdirSync("a/b", { recursive: true }); fs.writeFileSync("a/b/c.txt", "c"); fs.symlinkSync("a", "l")',
    ),
    expected: { files: [{ path: 'a/b/c.txt', contentBase64: base64('c') }], skippedFileCount: 1 },
  },
  {
    name: 'javascript: a child process',
    ...javascript('console.log(require("child_process").execFileSync("sh", ["-c", "echo $0; cat; pwd"]).toString())'),
    expected: { exitCode: 0 },
  },
  {
    name: 'javascript: long, with every kind of line end',
    ...javascript(`const lines = \`${'a line of text\r\n'.repeat(20_000)}\`;\rconsole.log(lines.length)`),
    expected: { stdout: '300000\n' },
  },
  {
    name: 'javascript: files that it is given',
    ...javascript('console.log(require("./lib/a.js"), require("fs").readFileSync("data.csv", "utf8"))', {
      files: [
        { path: 'lib/a.js', contentBase64: base64('module.exports = __filename') },
        { path: 'data.csv', contentBase64: base64('1,2') },
      ],
    }),
    expected: { stdout: '/workspace/lib/a.js 1,2\n', files: [] },
  },
  {
    name: 'javascript: no files asked for',
    ...javascript('require("fs").writeFileSync("a", "")', { returnFiles: false }),
    expected: { exitCode: 0, files: [] },
  },
  { name: 'python: all that a program can see of its place', ...python(LOOK_AROUND_PY), expected: { exitCode: 0, stderr: '' } },
  { name: 'python: nothing', ...python(''), expected: { exitCode: 0, stdout: '', stderr: '' } },
  {
    name: 'python: an uncaught error',
    ...python('\ndef f():\n    raise ValueError("no")\nf()'),
    expected: { exitCode: 1, stderr: expect.stringContaining('File "<stdin>", line 4') },
  },
  { name: 'python: a syntax error', ...python('print(1)\nx = = 1'), expected: { exitCode: 1, stdout: '' } },
  {
    name: 'python: leaves by sys.exit',
    ...python('import sys\nprint("a", end="")\nsys.exit("why")'),
    expected: { exitCode: 1, stdout: 'a', stderr: 'why\n' },
  },
  {
    name: 'python: a signal that has no handler',
    ...python('import os, signal\nos.kill(os.getpid(), signal.SIGUSR1)'),
    expected: { signal: 'SIGUSR1' },
  },
  {
    name: 'python: a broken pipe of its own',
    ...python('import os\nr, w = os.pipe()\nos.close(r)\nos.write(w, b"x")'),
    expected: { exitCode: 1 },
  },
  {
    name: 'python: a signal of its own',
    ...python('import os\nos.kill(os.getpid(), 9)'),
    expected: { signal: 'SIGKILL', exitCode: 137, killed: false },
  },
  {
    name: 'python: too much memory',
    ...python('x = bytearray(400 << 20)', { limits: { cpuLimit: 1_000 } }),
    expected: { oomKilled: true, signal: 'SIGKILL' },
  },
  {
    name: 'python: subprocesses and threads',
    ...python(
      'import subprocess, threading\nt = threading.Thread(target=lambda: print("thread", flush=True))\nt.start(); t.join()\nprint(subprocess.run(["sh", "-c", "cat; echo child"], capture_output=True).stdout)',
    ),
    expected: { exitCode: 0 },
  },
  {
    name: 'python: a timeout that it ignores',
    ...python('import signal\nsignal.signal(15, signal.SIG_IGN)\nprint("on")\nwhile True: pass', { limits: { timeoutMs: 1_000 } }),
    expected: { timedOut: true, killed: true, signal: 'SIGKILL', exitCode: 137, stdout: 'on\n' },
  },
  {
    name: 'python: modules that it is given, also those that start with the interpreter',
    ...python('import a, os; print(a.x, os.environ.get("EARLY"), [p for p in __import__("sys").path if "workspace" in p])', {
      files: [
        { path: 'a.py', contentBase64: base64('x = __file__') },
        { path: '.local/lib/python3.11/site-packages/usercustomize.py', contentBase64: base64('import os; os.environ["EARLY"] = "yes"') },
        { path: '.local/lib/python3.12/site-packages/usercustomize.py', contentBase64: base64('import os; os.environ["EARLY"] = "yes"') },
      ],
    }),
    expected: { stdout: expect.stringContaining('/workspace/a.py yes'), exitCode: 0 },
  },
  { name: 'command: all that a program can see of its place', ...shell(LOOK_AROUND_SH), expected: { exitCode: 0 } },
  {
    name: 'command: arguments, however odd',
    image: 'node:22-alpine',
    command: [
      'node',
      '--eval',
      'console.log(JSON.stringify(process.argv))',
      '--',
      '',
      ' a  b ',
      "'",
      "''",
      '"',
      '$HOME',
      '`id`',
      '*',
      '\n',
      'a\n\n',
      '\\',
      '\\n',
      'ü€😀',
      '\x01\x7f\u0081\u0088',
      '-n',
      '--',
      '#',
      '~',
      '!',
    ],
    expected: { exitCode: 0, stdout: expect.stringContaining('ü€😀') },
  },
  {
    name: 'command: one that is not there',
    ...shell(''),
    command: ['no-such-program', 'x'],
    expected: { exitCode: 127, stderr: expect.stringContaining('no-such-program: not found') },
  },
  { name: 'command: one that may not be run', ...shell(''), command: ['/etc/passwd'], expected: { exitCode: 126 } },
  { name: 'command: one without a name', ...shell(''), command: [''], expected: { exitCode: 126 } },
  {
    name: 'command: standard input',
    ...shell('read line; echo $line; cat | wc -c'),
    run: { stdin: 'line\n'.repeat(50_000) },
    expected: { stdout: 'line\n249995\n' },
  },
  { name: 'command: exit codes', ...shell('exit 200'), expected: { exitCode: 200 } },
  { name: 'command: 137 of its own accord', ...shell('exit 137'), expected: { exitCode: 137, killed: false } },
  { name: 'command: killed', ...shell('kill -9 $$'), expected: { exitCode: 137, signal: 'SIGKILL', killed: false } },
  {
    name: 'command: what it leaves running',
    ...shell('sleep 50 & echo done'),
    run: { returnFiles: true },
    expected: { exitCode: 0, stdout: 'done\n' },
  },
  { name: 'command: kills all it can', ...shell('sleep 50 & echo on; kill -9 -1; echo off'), expected: { stdout: 'on\noff\n' } },
  {
    name: 'command: files in and out',
    ...shell('cat in/a; echo new > in/b; rm in/a; chmod 0 in/b; echo .h > .hidden'),
    run: { returnFiles: true, files: [{ path: 'in/a', contentBase64: base64('A') }] },
    expected: { stdout: 'A', files: expect.arrayContaining([{ path: 'in/b', contentBase64: base64('new\n') }]) },
  },
  {
    name: 'command: a folder that it closed',
    ...shell('echo x > a; chmod 0 /workspace'),
    run: { returnFiles: true },
    expected: { files: [{ path: 'a', contentBase64: base64('x\n') }] },
  },
  {
    name: 'command: nothing but a hidden file',
    ...shell('echo x > ..a'),
    run: { returnFiles: true },
    expected: { files: [{ path: '..a', contentBase64: base64('x\n') }] },
  },
  {
    name: 'command: nothing but a link to nowhere',
    ...shell('ln -s nowhere a'),
    run: { returnFiles: true },
    expected: { files: [], skippedFileCount: 1 },
  },
  {
    name: 'command: other limits',
    ...shell('cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu.max 2>/dev/null; echo x > /x && echo written'),
    run: { limits: { cpuLimit: 500, memoryLimit: 64, readOnly: false } },
    expected: { exitCode: 1 },
  },
  {
    name: 'command: a timeout',
    ...shell('trap "echo bye; exit 5" TERM; echo on; while :; do sleep 0.02; done'),
    run: { limits: { timeoutMs: 700 } },
    expected: { timedOut: true, stdout: 'on\nbye\n', exitCode: 5 },
  },
];

describe('a container that waited is told apart by nothing but its speed', () => {
  it.each(cases)('$name', async ({ image, command, run = {}, expected }) => {
    const [cold, made, waited] = await Promise.all([
      runCold(image, command, run),
      fresh.run(image, command, run),
      runWarm(image, command, run),
    ]);
    expect(cold).toMatchObject({ ...expected, warm: false });
    expect(comparable(made)).toEqual(comparable(cold));
    expect(comparable(waited)).toEqual(comparable(cold));
    expect(waited.warm).toBe(true);
  });
});
