/**
 * What stands around a sandbox child besides the engine's isolates, from the operating system. Which layers are possible
 * depends on the machine and the user.
 *
 * - *no-new-privileges*: no program that it starts can give it more rights.
 * - *capabilities*: none.
 * - *limits*: its processes and the size of files that it writes; no core dumps; the first to end when memory runs out, and a
 *   lower priority than the services. No limit on memory fits the engine, which reserves up to 500 MiB for each isolate: the
 *   child watches its resident memory.
 * - *network*: an empty network namespace.
 * - *processes*: it sees no process but its own.
 * - *files*: it sees only the system's programs and libraries, Node, its own sources and isolated-vm, all read-only.
 * - *seccomp*: a filter refuses the system calls in `seccomp/system-calls.ts`: it makes no processes, namespaces or sockets,
 *   signals no process, and changes no file.
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
] as const;

export type Layer = (typeof LAYERS)[number];

/** Without these a service refuses to start in production. */
const MINIMUM_LAYERS: readonly Layer[] = ["no-new-privileges", "capabilities", "limits", "network", "seccomp"];

type Log = { info: (fields: Record<string, unknown>, message: string) => void };

/** Reports the layers around sandbox children in one line. Throws when the minimum is required and one of it is missing. */
export function reportLayers(layers: ReadonlySet<Layer>, isRequired: boolean, log: Log): void {
  const missing = LAYERS.filter((layer) => !layers.has(layer));
  log.info({ active: [...layers].join(", "), missing: missing.join(", ") }, "sandbox isolation");
  const needed = missing.filter((layer) => MINIMUM_LAYERS.includes(layer));
  if (!isRequired || needed.length === 0) return;
  throw new Error(
    `this machine cannot isolate sandbox children (missing: ${needed.join(", ")}): see docs/operators.md, or set SANDBOX_DANGEROUSLY_WEAK_ISOLATION=true`,
  );
}
