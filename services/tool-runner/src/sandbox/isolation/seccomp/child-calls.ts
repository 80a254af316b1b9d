import type { SystemCall } from "./system-calls.ts";

/**
 * What a running child never needs, but the programs that put the layers around it do, or the process that starts it. Where
 * namespaces are missing, these rules are what keeps a child from its service's files and processes.
 */
export const NEVER_IN_CHILD: readonly SystemCall[] = [
  // Processes. Threads are made with `clone`, which has a rule of its own.
  ["fork", 57, undefined],
  ["vfork", 58, undefined],
  ["execveat", 322, 281],
  ["kill", 62, 129],
  ["tkill", 200, 130],
  ["rt_sigqueueinfo", 129, 138],
  ["rt_tgsigqueueinfo", 297, 240],
  ["setpriority", 141, 140],
  ["sched_setattr", 314, 274],
  ["sched_setscheduler", 144, 119],
  ["sched_setparam", 142, 118],
  ["sched_setaffinity", 203, 122],
  ["ioprio_set", 251, 30],
  // Sockets: it reads and writes those that it has as files.
  ["socketpair", 53, 199],
  ["connect", 42, 203],
  ["bind", 49, 200],
  ["listen", 50, 201],
  ["accept", 43, 202],
  ["accept4", 288, 242],
  ["sendto", 44, 206],
  ["sendmsg", 46, 211],
  ["sendmmsg", 307, 269],
  ["recvfrom", 45, 207],
  ["recvmsg", 47, 212],
  ["recvmmsg", 299, 243],
  ["setsockopt", 54, 208],
  // Memory and messages that are not counted as its own.
  ["memfd_create", 319, 279],
  ["shmget", 29, 194],
  ["shmctl", 31, 195],
  ["shmat", 30, 196],
  ["shmdt", 67, 197],
  ["semget", 64, 190],
  ["semctl", 66, 191],
  ["semop", 65, 193],
  ["semtimedop", 220, 192],
  ["msgget", 68, 186],
  ["msgctl", 71, 187],
  ["msgrcv", 70, 188],
  ["msgsnd", 69, 189],
  ["mq_open", 240, 180],
  ["mq_unlink", 241, 181],
  ["set_mempolicy_home_node", 450, 450],
  // Changes of files. Opening them for writing has a rule of its own.
  ["creat", 85, undefined],
  ["unlink", 87, undefined],
  ["unlinkat", 263, 35],
  ["rename", 82, undefined],
  ["renameat", 264, 38],
  ["renameat2", 316, 276],
  ["link", 86, undefined],
  ["linkat", 265, 37],
  ["symlink", 88, undefined],
  ["symlinkat", 266, 36],
  ["mkdir", 83, undefined],
  ["mkdirat", 258, 34],
  ["rmdir", 84, undefined],
  ["mknod", 133, undefined],
  ["mknodat", 259, 33],
  ["chmod", 90, undefined],
  ["fchmod", 91, 52],
  ["fchmodat", 268, 53],
  ["chown", 92, undefined],
  ["fchown", 93, 55],
  ["lchown", 94, undefined],
  ["fchownat", 260, 54],
  ["truncate", 76, 45],
  ["ftruncate", 77, 46],
  ["fallocate", 285, 47],
  ["utime", 132, undefined],
  ["utimes", 235, undefined],
  ["futimesat", 261, undefined],
  ["utimensat", 280, 88],
  ["setxattr", 188, 5],
  ["lsetxattr", 189, 6],
  ["fsetxattr", 190, 7],
  ["removexattr", 197, 14],
  ["lremovexattr", 198, 15],
  ["fremovexattr", 199, 16],
  ["inotify_init", 253, undefined],
  ["inotify_init1", 294, 26],
  ["inotify_add_watch", 254, 27],
];

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
