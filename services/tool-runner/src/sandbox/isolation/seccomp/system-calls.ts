/** A system call: its name, and its number on x86_64 and on arm64; undefined where it does not exist. */
export type SystemCall = readonly [name: string, x64: number | undefined, arm64: number | undefined];

/** What neither a child nor the process role sandbox ever needs. */
export const NEVER_NEEDED: readonly SystemCall[] = [
  // Reading and steering other processes.
  ["ptrace", 101, 117],
  ["process_vm_readv", 310, 270],
  ["process_vm_writev", 311, 271],
  ["process_madvise", 440, 440],
  ["process_mrelease", 448, 448],
  ["kcmp", 312, 272],
  ["pidfd_open", 434, 434],
  ["pidfd_getfd", 438, 438],
  ["pidfd_send_signal", 424, 424],
  // The kernel itself.
  ["bpf", 321, 280],
  ["perf_event_open", 298, 241],
  ["userfaultfd", 323, 282],
  ["kexec_load", 246, 104],
  ["kexec_file_load", 320, 294],
  ["init_module", 175, 105],
  ["finit_module", 313, 273],
  ["delete_module", 176, 106],
  ["create_module", 174, undefined],
  ["query_module", 178, undefined],
  ["get_kernel_syms", 177, undefined],
  ["syslog", 103, 116],
  ["reboot", 169, 142],
  ["acct", 163, 89],
  ["swapon", 167, 224],
  ["swapoff", 168, 225],
  ["quotactl", 179, 60],
  ["quotactl_fd", 443, 443],
  ["lookup_dcookie", 212, 18],
  ["nfsservctl", 180, 42],
  ["vhangup", 153, 58],
  ["_sysctl", 156, undefined],
  ["sysfs", 139, undefined],
  ["ustat", 136, undefined],
  ["uselib", 134, undefined],
  // Keys.
  ["add_key", 248, 217],
  ["request_key", 249, 218],
  ["keyctl", 250, 219],
  // Other ways into the kernel.
  ["io_uring_setup", 425, 425],
  ["io_uring_enter", 426, 426],
  ["io_uring_register", 427, 427],
  ["fanotify_init", 300, 262],
  ["fanotify_mark", 301, 263],
  ["ioperm", 173, undefined],
  ["iopl", 172, undefined],
  ["modify_ldt", 154, undefined],
  ["vmsplice", 278, 75],
  ["name_to_handle_at", 303, 264],
  ["open_by_handle_at", 304, 265],
  ["personality", 135, 92],
  ["memfd_secret", 447, 447],
  ["landlock_create_ruleset", 444, 444],
  // Clock and names.
  ["settimeofday", 164, 170],
  ["clock_settime", 227, 112],
  ["clock_adjtime", 305, 266],
  ["adjtimex", 159, 171],
  ["sethostname", 170, 161],
  ["setdomainname", 171, 162],
  // Memory policy.
  ["mbind", 237, 235],
  ["set_mempolicy", 238, 237],
  ["migrate_pages", 256, 238],
  ["move_pages", 279, 239],
];

/** What is needed to put the layers around a child, and must be forbidden inside. */
export const NEEDED_FOR_LAYERS: readonly SystemCall[] = [
  ["mount", 165, 40],
  ["umount2", 166, 39],
  ["pivot_root", 155, 41],
  ["chroot", 161, 51],
  ["mount_setattr", 442, 442],
  ["move_mount", 429, 429],
  ["open_tree", 428, 428],
  ["fsopen", 430, 430],
  ["fsconfig", 431, 431],
  ["fsmount", 432, 432],
  ["fspick", 433, 433],
  ["unshare", 272, 97],
  ["setns", 308, 268],
];

/** Its input and output are open when a child starts; it needs no further socket. */
export const SOCKET: SystemCall = ["socket", 41, 198];
/** The kinds of sockets that the process role sandbox needs: AF_UNIX for pipes, AF_INET and AF_INET6. */
export const SOCKET_FAMILIES: readonly number[] = [1, 2, 10];

/** Creates processes and threads, or namespaces if one of these bits is set in its first argument. */
export const CLONE: SystemCall = ["clone", 56, 220];
export const NAMESPACE_FLAGS = 0x7e02_0000;
/** Has its flags in memory, where no filter can see them. glibc uses `clone` where it is missing. */
export const CLONE3: SystemCall = ["clone3", 435, 435];
