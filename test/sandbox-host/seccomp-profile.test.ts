import { describe, expect, it } from 'vitest';
import { SECCOMP_PROFILE } from '../../sandbox-host/seccomp-profile.ts';

const named = (action: string) =>
  SECCOMP_PROFILE.syscalls.filter((rule) => rule.action === action && rule.args.length === 0).flatMap(({ names }) => names);
const allowed = named('SCMP_ACT_ALLOW');

describe('the seccomp profile', () => {
  it('refuses what it does not name', () => {
    expect(SECCOMP_PROFILE.defaultAction).toBe('SCMP_ACT_ERRNO');
    expect(new Set(SECCOMP_PROFILE.syscalls.map(({ action }) => action))).toEqual(new Set(['SCMP_ACT_ALLOW', 'SCMP_ACT_ERRNO']));
  });

  it('names nothing twice', () => {
    const all = SECCOMP_PROFILE.syscalls.filter(({ args }) => args.length === 0).flatMap(({ names }) => names);
    expect(all.toSorted()).toEqual([...new Set(all)].toSorted());
  });

  it.each([
    ...[
      'add_key',
      'bpf',
      'chroot',
      'clone',
      'clone3',
      'delete_module',
      'fanotify_init',
      'finit_module',
      'fsmount',
      'fsopen',
      'init_module',
    ],
    ...['io_uring_enter', 'io_uring_register', 'io_uring_setup', 'iopl', 'kcmp', 'kexec_load', 'keyctl', 'lookup_dcookie', 'memfd_create'],
    ...['modify_ldt', 'mount', 'mount_setattr', 'move_mount', 'move_pages', 'name_to_handle_at', 'open_by_handle_at', 'open_tree'],
    ...[
      'perf_event_open',
      'personality',
      'pidfd_getfd',
      'pivot_root',
      'process_vm_readv',
      'process_vm_writev',
      'ptrace',
      'quotactl',
      'reboot',
    ],
    ...['request_key', 'setns', 'settimeofday', 'socket', 'swapon', 'sync', 'syslog', 'umount2', 'unshare', 'userfaultfd', 'vhangup'],
  ])('does not allow %s whatever its arguments are', (name) => {
    expect(allowed).not.toContain(name);
  });

  it('allows no 32-bit programs', () => {
    expect(SECCOMP_PROFILE.archMap.flatMap(({ subArchitectures }) => subArchitectures)).toEqual([]);
  });
});
