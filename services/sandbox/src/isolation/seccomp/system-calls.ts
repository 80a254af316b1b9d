/** A system call: its name, and its number on x86_64 and on arm64; undefined where it does not exist. */
export type SystemCall = readonly [name: string, x64: number | undefined, arm64: number | undefined];

/** Reads a table: the name of each call and its two numbers, or `-`. Lines with `#` are comments. */
function table(text: string): SystemCall[] {
  const numberOf = (digits = "-") => (digits === "-" ? undefined : Number(digits));
  const entries = text
    .replace(/^ *#.*$/gm, "")
    .split(",")
    .map((entry) => entry.trim());
  return entries.filter(Boolean).map((entry) => {
    const [, name, x64, arm64] = /^(\w+) (\d+|-) (\d+|-)$/.exec(entry) ?? [];
    if (name === undefined) throw new Error(`not a system call: ${entry}`);
    return [name, numberOf(x64), numberOf(arm64)] as const;
  });
}

/** What neither a child nor the service sandbox ever needs. */
export const NEVER_NEEDED = table(`
  # Reading and steering other processes.
  ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, process_madvise 440 440,
  process_mrelease 448 448, kcmp 312 272, pidfd_open 434 434, pidfd_getfd 438 438, pidfd_send_signal 424 424,
  # The kernel itself.
  bpf 321 280, perf_event_open 298 241, userfaultfd 323 282, kexec_load 246 104, kexec_file_load 320 294,
  init_module 175 105, finit_module 313 273, delete_module 176 106, create_module 174 -, query_module 178 -,
  get_kernel_syms 177 -, syslog 103 116, reboot 169 142, acct 163 89, swapon 167 224, swapoff 168 225,
  quotactl 179 60, quotactl_fd 443 443, lookup_dcookie 212 18, nfsservctl 180 42, vhangup 153 58, _sysctl 156 -,
  sysfs 139 -, ustat 136 -, uselib 134 -,
  # Keys.
  add_key 248 217, request_key 249 218, keyctl 250 219,
  # Other ways into the kernel.
  io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427, fanotify_init 300 262,
  fanotify_mark 301 263, ioperm 173 -, iopl 172 -, modify_ldt 154 -, vmsplice 278 75, name_to_handle_at 303 264,
  open_by_handle_at 304 265, personality 135 92, memfd_secret 447 447, landlock_create_ruleset 444 444,
  # Clock and names.
  settimeofday 164 170, clock_settime 227 112, clock_adjtime 305 266, adjtimex 159 171, sethostname 170 161,
  setdomainname 171 162,
  # Memory policy.
  mbind 237 235, set_mempolicy 238 237, migrate_pages 256 238, move_pages 279 239,
`);

/** What is needed to put the layers around a child, and must be forbidden inside. */
export const NEEDED_FOR_LAYERS = table(`
  mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, mount_setattr 442 442, move_mount 429 429,
  open_tree 428 428, fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433, unshare 272 97,
  setns 308 268,
`);

/**
 * What a running child never needs, but the programs that put the layers around it do, or the process that starts it. Where
 * namespaces are missing, these rules are what keeps a child from its service's files and processes.
 */
export const NEVER_IN_CHILD = table(`
  # Processes. Threads are made with clone, which has a rule of its own.
  fork 57 -, vfork 58 -, execveat 322 281, kill 62 129, tkill 200 130, rt_sigqueueinfo 129 138,
  rt_tgsigqueueinfo 297 240, setpriority 141 140, sched_setattr 314 274, sched_setscheduler 144 119,
  sched_setparam 142 118, sched_setaffinity 203 122, ioprio_set 251 30,
  # Sockets: it reads and writes those that it has as files.
  socketpair 53 199, connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242, sendto 44 206,
  sendmsg 46 211, sendmmsg 307 269, recvfrom 45 207, recvmsg 47 212, recvmmsg 299 243, setsockopt 54 208,
  # Memory and messages that are not counted as its own.
  memfd_create 319 279, shmget 29 194, shmctl 31 195, shmat 30 196, shmdt 67 197, semget 64 190, semctl 66 191,
  semop 65 193, semtimedop 220 192, msgget 68 186, msgctl 71 187, msgrcv 70 188, msgsnd 69 189, mq_open 240 180,
  mq_unlink 241 181, set_mempolicy_home_node 450 450,
  # Changes of files. Opening them for writing has a rule of its own.
  creat 85 -, unlink 87 -, unlinkat 263 35, rename 82 -, renameat 264 38, renameat2 316 276, link 86 -,
  linkat 265 37, symlink 88 -, symlinkat 266 36, mkdir 83 -, mkdirat 258 34, rmdir 84 -, mknod 133 -,
  mknodat 259 33, chmod 90 -, fchmod 91 52, fchmodat 268 53, chown 92 -, fchown 93 55, lchown 94 -, fchownat 260 54,
  truncate 76 45, ftruncate 77 46, fallocate 285 47, utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88,
  setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16,
  inotify_init 253 -, inotify_init1 294 26, inotify_add_watch 254 27,
`);

/** Its input and output are open when a child starts; it needs no further socket. */
export const SOCKET: SystemCall = ["socket", 41, 198];
/** The kinds of sockets that the service sandbox needs: AF_UNIX for pipes, AF_INET and AF_INET6. */
export const SOCKET_FAMILIES: readonly number[] = [1, 2, 10];

/** Creates processes and threads, or namespaces if one of these bits is set in its first argument. */
export const CLONE: SystemCall = ["clone", 56, 220];
export const NAMESPACE_FLAGS = 0x7e02_0000;
/** Has its flags in memory, where no filter can see them. glibc uses `clone` where it is missing. */
export const CLONE3: SystemCall = ["clone3", 435, 435];

/** Opens files, with flags in the argument of this number. */
export const OPEN: readonly (readonly [call: SystemCall, flagsArgument: number])[] = [
  [["open", 2, undefined], 1],
  [["openat", 257, 56], 2],
];
/** O_WRONLY, O_RDWR, O_CREAT, O_TRUNC and the bit of O_TMPFILE that is its own; the same on both architectures. */
export const WRITING_FLAGS = 0x0040_0243;

/** Has its flags in memory, as `clone3`. */
export const OPENAT2: SystemCall = ["openat2", 437, 437];

/** Sets limits of the process in its first argument; 0 is the caller. */
export const PRLIMIT64: SystemCall = ["prlimit64", 302, 261];

/** The bit of `clone` for a thread. */
export const THREAD_FLAG = 0x0001_0000;

/** Calls from this number on are newer than the tables (Linux 6.5 and later): programs must do without them on older systems. */
export const FIRST_UNKNOWN = 451;
