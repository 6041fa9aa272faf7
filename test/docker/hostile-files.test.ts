import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isWorkspacePath, type RunResult } from '../../src/contract/runs.ts';
import { javascript, python, shell, startHostileHost } from '../support/hostile-host.ts';

let host: Awaited<ReturnType<typeof startHostileHost>>;
beforeAll(async () => {
  host = await startHostileHost();
});
afterAll(async () => expect(await host.stop()).toEqual([]));

const MIB = 1_048_576;
const base64 = (text: string) => Buffer.from(text).toString('base64');
const filesOf = ({ files }: RunResult) => Object.fromEntries(files.map(({ path, contentBase64 }) => [path, contentBase64]));
const skippedOf = ({ skippedFiles = [] }: RunResult) => Object.fromEntries(skippedFiles.map(({ path, reason }) => [path, reason]));

/** Runs cold and warm at a time, checks what holds of any files, and hands both to the test. */
async function runBoth(request: Parameters<typeof host.runBoth>[0], check: (result: RunResult) => void): Promise<void> {
  const results = await host.runBoth({ ...request, returnFiles: true });
  for (const result of results) {
    for (const { path } of result.files) expect(isWorkspacePath(path), path).toBe(true);
    check(result);
  }
  await host.expectUnharmed(results);
}

describe.concurrent('hostile files', () => {
  it('symbolic links lead nowhere, whatever they name', () =>
    runBoth(
      shell(
        'ln -s /etc/passwd passwd; ln -s .. up; ln -s / root; ln -s . here; ln -s loop loop; ln -s "$(printf "a\\nb")" odd; mkdir d; ln -s ../../etc d/etc; ln -s /proc/1/environ env; ln -s nowhere nowhere; echo x >file; ln -s file alias',
      ),
      (result) => {
        expect(filesOf(result)).toEqual({ file: base64('x\n') });
        const links = ['alias', 'd/etc', 'env', 'here', 'loop', 'nowhere', 'odd', 'passwd', 'root', 'up'];
        expect(skippedOf(result)).toEqual(Object.fromEntries(links.map((path) => [path, 'It is a symbolic link'])));
      },
    ));

  it('hard links give their file once', () =>
    runBoth(shell('echo x >a; ln a b; ln a c; ln /etc/passwd d; ln /bin/busybox e; exit 0'), (result) => {
      expect(Object.values(filesOf(result))).toEqual([base64('x\n')]);
      expect(Object.values(skippedOf(result))).toEqual(Array(2).fill('It is a hard link to another file'));
    }));

  it('pipes and sockets do not hold up what reads them', () =>
    runBoth(
      python(
        'import os, socket\nos.mkfifo("pipe")\ns = socket.socket(socket.AF_UNIX); s.bind("socket")\nopen("after", "w").write("x")\ntry: os.mknod("device", 0o20600, os.makedev(1, 5))\nexcept OSError as e: print(e.strerror)',
      ),
      (result) => {
        expect(result.stdout).toBe('Operation not permitted\n');
        expect(filesOf(result)).toEqual({ after: base64('x') });
        expect(skippedOf(result)).toMatchObject({ pipe: 'It is a named pipe' });
      },
    ));

  it('names come back as they are, or are told', () =>
    runBoth(
      python(`
import os
names = ["new\\nline", "tab\\tcarriage\\r", " ", "-rf", "--checkpoint=1", "--checkpoint-action=exec=sh x", "a'b\\"c", "$(id)", "\\x60id\\x60", "*", "back\\\\slash",
  "..a", "a..", "...", ".. ", "C:", "x" * 255, "\\x01\\x1b[31m", "ü€😀", "e\\u0301", "\\u202etxt.exe", "a\\u2028b", "%2e%2e", "NUL"]
for name in names: open(name, "w").write("x")
os.mkdir("..b"); open("..b/.. c", "w").write("x")
open(b"\\xff\\xfe/".rstrip(b"/"), "w").write("x")
open(b"\\xc0\\xae\\xc0\\xae", "w").write("x")
print(len(names))`),
      (result) => {
        expect(result.stdout).toBe('24\n');
        const names = Object.keys(filesOf(result));
        expect(names).toHaveLength(25);
        expect(names).toEqual(
          expect.arrayContaining([
            'new\nline',
            '--checkpoint-action=exec=sh x',
            '..a',
            '...',
            '..b/.. c',
            'ü€😀',
            'e\u0301',
            'x'.repeat(255),
          ]),
        );
        expect(skippedOf(result)).toEqual({
          '\\xff\\xfe': expect.stringContaining('UTF-8'),
          '\\xc0\\xae\\xc0\\xae': expect.stringContaining('UTF-8'),
        });
      },
    ));

  it('paths that are too long are told', () =>
    runBoth(
      python(
        'import os\nos.makedirs("/".join(["d" * 200] * 2)); open("/".join(["d" * 200] * 2) + "/" + "f" * 110, "w").write("x"); open("/".join(["d" * 200] * 2) + "/" + "f" * 111, "w").write("x")',
      ),
      (result) => {
        expect(Object.keys(filesOf(result)).map((path) => path.length)).toEqual([512]);
        expect(result.skippedFileCount).toBe(1);
      },
    ));

  it('folders in folders deeper than any path ends', () =>
    runBoth(
      python(
        'import os\nopen("top", "w").write("x")\nfor i in range(3000):\n    os.mkdir("deep"); os.chdir("deep")\nopen("bottom", "w").write("x")',
      ),
      (result) => {
        expect(result).toMatchObject({ exitCode: 0, killed: false });
        expect(Object.keys(filesOf(result)).filter((path) => path !== 'top')).toEqual([]);
        expect(result.skippedFileCount).toBeGreaterThan(0);
      },
    ));

  it('files that are too large or sparse are told and not sent', () =>
    runBoth(
      python(
        'import os\nfor name, size in ("huge", 1 << 40), ("large", 65 << 20), ("fits", 1 << 20), ("over", (1 << 20) + 1):\n    try: os.truncate(os.open(name, os.O_CREAT | os.O_WRONLY), size); print(name)\n    except OSError as e: print(name, e.strerror)',
      ),
      (result) => {
        expect(result.stdout).toBe('huge File too large\nlarge\nfits\nover\n');
        expect(filesOf(result)).toEqual({ huge: '', fits: Buffer.alloc(MIB).toString('base64') });
        expect(skippedOf(result)).toEqual({ large: expect.any(String), over: expect.any(String) });
      },
    ));

  const sparse = python(
    'import os\nfor i in range(1000): os.truncate(os.open("%04d" % i, os.O_CREAT | os.O_WRONLY), 65 << 20); os.close(3)',
  );
  const TOO_MUCH = 'The files are larger together than their folder is';

  it('a thousand sparse files, which would be 64 GB, end the collection', async () => {
    const result = await host.run({ ...sparse, limits: { cpuLimit: 2_000 } });
    expect(result).toMatchObject({ exitCode: 0, killed: false, files: [] });
    expect(result.skippedFiles?.[0]).toEqual({ path: '.', reason: TOO_MUCH });
    await host.expectUnharmed([result]);
  });

  it('and so they do where they are read slowly', () =>
    runBoth(sparse, (result) => {
      expect(result).toMatchObject({ exitCode: 0, files: [] });
      const reason = expect.toBeOneOf([TOO_MUCH, 'Not all files could be read in time']);
      expect(result.skippedFiles?.[0]).toEqual({ path: '.', reason });
    }));

  it('of ten thousand small files as many come back as may', () =>
    runBoth(python('for i in range(10000): open("f%d" % i, "w").write("x")'), (result) => {
      expect(result).toMatchObject({ exitCode: 0, killed: false });
      expect(result.files.length).toBe(1_000);
      expect(result.skippedFiles?.length).toBe(100);
      expect(result.skippedFileCount).toBe(9_000);
    }));

  it('odd times, modes and owners do no harm', () =>
    runBoth(
      python(
        'import os\nfor i, t in enumerate([-1, -(1 << 40), 1 << 33, 1 << 40, (1 << 62) // 10**9]):\n    open("t%d" % i, "w").write("x")\n    try: os.utime("t%d" % i, (t, t))\n    except OSError: pass\nfor i, m in enumerate([0, 0o7777, 0o4755, 0o1000]):\n    open("m%d" % i, "w").write("x"); os.chmod("m%d" % i, m)\nos.mkdir("closed"); open("closed/f", "w").write("x"); os.chmod("closed", 0)',
      ),
      (result) => {
        const paths = ['closed/f', ...[0, 1, 2, 3].map((index) => `m${index}`), ...[0, 1, 2, 3, 4].map((index) => `t${index}`)];
        expect(Object.keys(filesOf(result)).toSorted()).toEqual(paths);
      },
    ));

  it('what looks like an archive or like the end of one is a file like others', () =>
    runBoth(
      javascript(`
const fs = require('fs');
const header = Buffer.alloc(512);
header.write('../../escape'); header.write('0000644', 100); header.write('00000000010', 124); header.write('0', 156); header.write('ustar  ', 257);
header.fill(' ', 148, 156);
header.write(header.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, '0') + '\\0 ', 148);
fs.writeFileSync('a', Buffer.concat([Buffer.alloc(1024), header, Buffer.alloc(512, 'y')]));
fs.writeFileSync('b', Buffer.alloc(1024)); fs.writeFileSync('c', 'end');`),
      (result) => {
        expect(Object.keys(filesOf(result)).toSorted()).toEqual(['a', 'b', 'c']);
        expect(filesOf(result)).toMatchObject({ c: base64('end'), b: Buffer.alloc(1_024).toString('base64') });
      },
    ));

  it('what was sent cannot be made into a way out', () =>
    runBoth(
      shell('rm -rf in; ln -s /etc in; mv out ..; mkdir -p a/b; mv a/b ../..; rm -rf /workspace; ls -A', {
        files: [{ path: 'in/f', contentBase64: base64('x') }],
      }),
      (result) => {
        expect(result.files).toEqual([]);
        expect(result.stdout).toBe('');
      },
    ));
});
