/**
 * What stands around a sandbox child besides the engine's isolates, from the operating system. Which layers are possible
 * depends on the machine and the user.
 *
 * - *no-new-privileges*: no program that it starts can give it more rights.
 * - *capabilities*: none.
 * - *limits*: its processes and the size of files that it writes; no core dumps. These limits include none on memory that fits the
 *   engine, which reserves 128 MiB of address space for each isolate.
 * - *network*: an empty network namespace.
 * - *processes*: it sees no process but its own.
 * - *files*: it sees only the system's programs and libraries, Node, its own sources and isolated-vm, all read-only.
 * - *seccomp*: a filter refuses the system calls in `seccomp/system-calls.ts`, and those in `child-calls.ts`: it makes no
 *   processes, namespaces or sockets, signals no process, and changes no file.
 * - *cgroup*: a cgroup of its own, which bounds its memory and processes.
 * - *user*: an unprivileged user of its own; for a service that is not root, a user namespace of its own.
 */
export const LAYERS = [
  "no-new-privileges",
  "capabilities",
  "limits",
  "network",
  "processes",
  "files",
  "user",
  "seccomp",
  "cgroup",
] as const;

export type Layer = (typeof LAYERS)[number];

/** Without these a service refuses to start in production. */
export const MINIMUM_LAYERS: readonly Layer[] = ["no-new-privileges", "capabilities", "limits", "network", "seccomp"];
