const namesOf = (text: string): string[] => text.trim().split(/\s+/);

/** What programs live on, of 64-bit x86 and Arm alone: names that a machine does not have are passed over. */
const ALLOWED = namesOf(`
  accept accept4 access alarm arch_prctl bind brk capget capset chdir chmod chown clock_getres clock_gettime clock_nanosleep close close_range connect
  copy_file_range creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 execve execveat exit
  exit_group faccessat faccessat2 fadvise64 fallocate fchdir fchmod fchmodat fchown fchownat fcntl fdatasync fgetxattr flistxattr flock fork fremovexattr
  fsetxattr fstat fstatfs fsync ftruncate futex futex_waitv futimesat get_robust_list getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups
  getitimer getpeername getpgid getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit getrusage getsid getsockname getsockopt gettid
  gettimeofday getuid getxattr inotify_add_watch inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy io_getevents io_pgetevents io_setup
  io_submit ioctl ioprio_get ioprio_set kill landlock_add_rule landlock_create_ruleset landlock_restrict_self lchown lgetxattr link linkat listen listxattr
  llistxattr lremovexattr lseek lsetxattr lstat madvise membarrier mincore mkdir mkdirat mknod mknodat mlock mlock2 mlockall mmap mprotect mq_getsetattr
  mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink mremap msgctl msgget msgrcv msgsnd msync munlock munlockall munmap nanosleep newfstatat open
  openat openat2 pause pidfd_open pidfd_send_signal pipe pipe2 poll ppoll prctl pread64 preadv preadv2 prlimit64 pselect6 pwrite64 pwritev pwritev2 read
  readahead readlink readlinkat readv recvfrom recvmmsg recvmsg removexattr rename renameat renameat2 restart_syscall rmdir rseq rt_sigaction
  rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max
  sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setattr
  sched_setparam sched_setscheduler sched_yield seccomp select semctl semget semop semtimedop sendfile sendmmsg sendmsg sendto set_robust_list
  set_tid_address setfsgid setfsuid setgid setgroups setitimer setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid setsockopt
  setuid setxattr shmat shmctl shmdt shmget shutdown sigaltstack signalfd signalfd4 splice stat statfs statx symlink symlinkat sync_file_range sysinfo tee
  tgkill time timer_create timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill truncate
  umask uname unlink unlinkat utime utimensat utimes vfork vmsplice wait4 waitid write writev`);

/** What programs try and do without when the kernel does not have it; a refusal they would take for an error. All else is refused by EPERM. */
const NOT_IMPLEMENTED = namesOf(`
  clone3 io_uring_enter io_uring_register io_uring_setup memfd_create memfd_secret modify_ldt name_to_handle_at pkey_alloc pkey_free pkey_mprotect
  userfaultfd`);

/** Would have the machine write out the files of all its programs, those outside of containers too. Nothing in a container outlives it, so nothing is missed. */
const DONE_WITHOUT_DOING = ['sync', 'syncfs'];

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NAMESPACE_FLAGS = 0x7e02_0000;
const QUERY_PERSONALITY = 0xffff_ffff;
const AF = { UNIX: 1, INET: 2, INET6: 10, NETLINK: 16 };
const NETLINK_ROUTE = 0;
const EAFNOSUPPORT = 97;
const ENOSYS = 38;

interface Argument {
  index: number;
  value: number;
  valueTwo?: number;
  op: 'SCMP_CMP_EQ' | 'SCMP_CMP_GT' | 'SCMP_CMP_MASKED_EQ';
}

const allow = (names: readonly string[], ...args: Argument[]) => ({ names, action: 'SCMP_ACT_ALLOW', args });
const answer = (errnoRet: number, names: readonly string[], ...args: Argument[]) => ({ names, action: 'SCMP_ACT_ERRNO', errnoRet, args });
const equals = (index: number, value: number): Argument => ({ index, value, op: 'SCMP_CMP_EQ' });
const above = (index: number, value: number): Argument => ({ index, value, op: 'SCMP_CMP_GT' });

const otherFamilies = Array.from({ length: AF.NETLINK }, (_, family) => family).filter((family) => !Object.values(AF).includes(family));

/**
 * The system calls of a container, as Docker's `--security-opt seccomp=` takes them: nothing that Docker's own profile refuses to a container without
 * capabilities, and of the rest not what lets a program look into others or what has little use and a history of holes: ptrace, io_uring, files in
 * memory that could be executed, sockets of rare families, and calls of 32-bit programs, which end with SIGSYS. Calls newer than all of these are
 * answered with ENOSYS by runc itself. https://docs.docker.com/engine/security/seccomp/
 */
export const SECCOMP_PROFILE = {
  defaultAction: 'SCMP_ACT_ERRNO',
  archMap: [
    { architecture: 'SCMP_ARCH_X86_64', subArchitectures: [] },
    { architecture: 'SCMP_ARCH_AARCH64', subArchitectures: [] },
  ],
  syscalls: [
    allow(ALLOWED),
    answer(ENOSYS, NOT_IMPLEMENTED),
    answer(0, DONE_WITHOUT_DOING),
    allow(['clone'], { index: 0, value: NAMESPACE_FLAGS, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }),
    allow(['personality'], equals(0, QUERY_PERSONALITY)),
    allow(['socketpair'], equals(0, AF.UNIX)),
    ...[AF.UNIX, AF.INET, AF.INET6].map((family) => allow(['socket'], equals(0, family))),
    allow(['socket'], equals(0, AF.NETLINK), equals(2, NETLINK_ROUTE)),
    ...otherFamilies.map((family) => answer(EAFNOSUPPORT, ['socket'], equals(0, family))),
    answer(EAFNOSUPPORT, ['socket'], above(0, AF.NETLINK)),
  ],
} as const;
