import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../setup/run-command.mjs';

const FOLDERS = ['dev', 'etc', 'proc', 'root', 'sys', 'usr/bin', 'usr/lib', 'usr/lib64', 'usr/sbin', 'usr/local/bin', 'var'];
const OPEN_FOLDERS = ['tmp', 'workspace'];
const MERGED = { bin: 'usr/bin', lib: 'usr/lib', lib64: 'usr/lib64', sbin: 'usr/sbin' };
const PASSWD = `root:x:0:0:root:/root:/bin/sh
nobody:x:65534:65534:nobody:/workspace:/bin/sh
`;
const GROUP = `root:x:0:
nobody:x:65534:
`;

/** A root file system with busybox and nothing else. */
export async function createRoot(root, busyboxPackages) {
  for (const folder of [...FOLDERS, ...OPEN_FOLDERS]) mkdirSync(join(root, folder), { recursive: true });
  for (const folder of OPEN_FOLDERS) chmodSync(join(root, folder), 0o1777);
  for (const [link, target] of Object.entries(MERGED)) symlinkSync(target, join(root, link));
  writeFileSync(join(root, 'etc/passwd'), PASSWD);
  writeFileSync(join(root, 'etc/group'), GROUP);
  await addPackages(root, busyboxPackages);
  const applets = await runCommand(join(root, 'usr/bin/busybox'), ['--list']);
  for (const applet of applets.split('\n').filter((name) => name !== '')) {
    const link = join(root, 'usr/bin', applet);
    if (!existsSync(link)) symlinkSync('busybox', link);
  }
}

/** Unpacks Debian packages, without running anything of theirs. */
export async function addPackages(root, files) {
  for (const file of files) {
    const data = join(root, '..', 'data.tar');
    await runCommand('sh', ['-c', 'dpkg-deb --fsys-tarfile "$1" > "$2"', 'sh', file, data]);
    await runCommand('tar', ['-xf', data, '--keep-directory-symlink', '-C', root]);
    rmSync(data);
  }
}

export async function addProgram(root, name, file) {
  const program = join(root, 'usr/local/bin', name);
  copyFileSync(file, program);
  chmodSync(program, 0o755);
}

/** What a container never reads. */
export function dropDocumentation(root) {
  for (const name of ['doc', 'man', 'locale', 'lintian', 'bug']) rmSync(join(root, 'usr/share', name), { recursive: true, force: true });
  for (const name of readdirSync(join(root, 'usr/lib'))) rmSync(join(root, 'usr/lib', name, 'gconv'), { recursive: true, force: true });
}

/**
 * Links the usual names and compiles the standard library beforehand, since a read-only container would do it anew on every run.
 * The new root's own Python does it, started through its own loader, so that nothing of this machine matters.
 */
export async function compilePython(root) {
  for (const name of ['python', 'python3']) symlinkSync('/usr/bin/python3', join(root, 'usr/local/bin', name));
  const libraries = readdirSync(join(root, 'usr/lib')).find((name) => name.endsWith('-linux-gnu')) ?? '';
  const folder = join(root, 'usr/lib', libraries);
  const loader = readdirSync(folder).find((name) => name.startsWith('ld-linux'));
  const python = readdirSync(join(root, 'usr/bin')).find((name) => /^python3\.\d+$/.test(name));
  if (loader === undefined || python === undefined) throw new Error('the packages of Python hold no interpreter');
  const compile = [
    '-B',
    '-m',
    'compileall',
    '-q',
    '--invalidation-mode',
    'unchecked-hash',
    '-s',
    root,
    '-p',
    '/',
    join(root, 'usr/lib', python),
  ];
  await runCommand(join(folder, loader), ['--library-path', folder, join(root, 'usr/bin', python), ...compile], {
    env: { PYTHONHOME: join(root, 'usr'), PYTHONHASHSEED: '0', LC_ALL: 'C.UTF-8' },
  });
}
