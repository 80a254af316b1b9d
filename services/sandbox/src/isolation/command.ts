import { FILTER_LOADER } from "../processes/child-files.ts";
import type { Layer } from "./layers.ts";

export type Machine = {
  isRoot: boolean;
  /** A user namespace has a process limit of its own. */
  countsByNamespace: boolean;
  /** An existing folder, over which a child mounts its own root. */
  mountPoint: string;
  /** What loads the filter of system calls; undefined on an architecture without one. */
  filter: { prctl: number; program: Buffer } | undefined;
  /** What a child must be able to read. */
  readable: readonly string[];
};

/** Processes and threads; the engine has one for each core. */
const MAX_THREADS = 256;
/** A child writes no files. */
const MAX_FILE_BYTES = 64 * 1024;

/**
 * When memory runs out, the kernel ends a child before anything else, and the services come first at the processors: the
 * endless loops of one workspace made the calls of others wait 1.7 s, and make them wait 17 ms with this. From 10 on, tools
 * would hardly run on a machine that is busy with something else. A session has a priority of its own (autogroup in
 * sched(7)), which an ordinary user may change every 100 ms.
 */
const NICE = 7;
const COME_AFTER_SERVICES = `set -e
echo 1000 > /proc/self/oom_score_adj
if [ -w /proc/self/autogroup ]; then
  for attempt in 1 2 3 4 5; do
    if echo ${NICE} 2> /dev/null > /proc/self/autogroup; then break; fi
    sleep 0.1
  done
fi
exec /usr/bin/env -i /usr/bin/nice -n ${NICE} "$@"`;

/** Mounts a root with read-only views of the given paths and an own /proc, then runs the command in it. */
const ENTER_ROOT = `set -e
PATH=/usr/sbin:/usr/bin:/sbin:/bin
root=$1; shift
mount -t tmpfs -o size=256k,mode=755,nosuid,nodev,noexec sandbox "$root"
while [ "$1" != -- ]; do
  if [ -L "$1" ]; then mkdir -p "$root\${1%/*}"; ln -s "$(readlink "$1")" "$root$1"
  elif [ -d "$1" ]; then mkdir -p "$root$1"; mount -o bind,ro,nosuid,nodev "$1" "$root$1"; fi
  shift
done
shift
mkdir "$root/proc"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
mount -o remount,bind,ro,nosuid,nodev,noexec "$root"
exec chroot "$root" "$@"`;

/**
 * The command that runs another one within the layers, as the given user if it has a user of its own. The programs are
 * where Debian and Ubuntu have them; without one, its layer does not work.
 */
export function isolated(
  command: readonly string[],
  layers: ReadonlySet<Layer>,
  { isRoot, countsByNamespace, mountPoint, filter, readable }: Machine,
  userId: number,
): string[] {
  const wrapped: string[] = [];
  const has = (layer: Layer) => layers.has(layer);

  if (has("limits")) wrapped.push("/usr/bin/setsid", "/bin/sh", "-c", COME_AFTER_SERVICES, "sh");

  const namespaces: string[] = [];
  if (has("network")) namespaces.push("--net", "--ipc", "--uts");
  if (has("processes")) namespaces.push("--pid", "--fork", "--kill-child");
  if (has("files")) namespaces.push("--mount");
  // Only in a user namespace of its own may an ordinary user make the other namespaces.
  if (!isRoot && (namespaces.length > 0 || has("user"))) namespaces.push("--user", "--map-root-user");
  if (namespaces.length > 0) wrapped.push("/usr/bin/unshare", ...namespaces);
  if (has("files")) wrapped.push("/bin/sh", "-c", ENTER_ROOT, "sh", mountPoint, ...readable, "--");

  const privileges: string[] = [];
  if (has("user") && isRoot) privileges.push(`--reuid=${userId}`, `--regid=${userId}`, "--clear-groups");
  if (has("capabilities")) privileges.push("--inh-caps=-all");
  if (has("capabilities") && (isRoot || namespaces.length > 0)) privileges.push("--bounding-set=-all");
  if (has("no-new-privileges")) privileges.push("--no-new-privs");
  // A change of the user clears what `--kill-child` has set.
  if (has("processes") && privileges.length > 0) privileges.push("--pdeathsig=KILL");
  if (privileges.length > 0) wrapped.push("/usr/bin/setpriv", ...privileges);

  if (has("limits")) wrapped.push("/usr/bin/prlimit", "--core=0", `--fsize=${MAX_FILE_BYTES}`);
  // Otherwise all processes of the service's user would count.
  if (has("limits") && has("user") && (isRoot || countsByNamespace)) wrapped.push(`--nproc=${MAX_THREADS}`);
  // The shell sets variables.
  if (has("files")) wrapped.push("/usr/bin/env", "-i");
  // Last, because it refuses what the programs above need.
  if (has("seccomp") && filter !== undefined) {
    wrapped.push("/usr/bin/perl", FILTER_LOADER, String(filter.prctl), filter.program.toString("hex"));
  }
  return [...wrapped, ...command];
}
