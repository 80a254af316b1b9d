import { FILTER_LOADER } from "../processes/child-files.ts";
import type { ChildGroup } from "./cgroups.ts";
import type { Layer } from "./layers.ts";

export type Tool = "chroot" | "env" | "perl" | "prlimit" | "setpriv" | "sh" | "unshare";

export type Machine = {
  isRoot: boolean;
  /** Where the programs are; those that are missing make their layers impossible. */
  tools: Readonly<Record<Tool, string>>;
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
const MAX_PROCESSES = 256;
/** More than the progress file needs. */
const MAX_FILE_BYTES = 64 * 1024;

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
exec "$0" "$root" "$@"`;

/** The command that runs another one within the layers, as the given user if it has a user of its own. */
export function isolated(
  command: readonly string[],
  layers: ReadonlySet<Layer>,
  machine: Machine,
  userId: number,
): string[] {
  const { isRoot, mountPoint, readable, tools } = machine;
  const namespaces = namespaceFlags(layers, isRoot);
  const outer = namespaces.length === 0 ? [] : [tools.unshare, ...namespaces];
  if (layers.has("files")) {
    outer.push(tools.sh, "-c", ENTER_ROOT, tools.chroot, mountPoint, ...readable, "--");
  }
  const privileges = privilegeFlags(layers, isRoot, namespaces.length > 0, userId);
  if (privileges.length > 0) outer.push(tools.setpriv, ...privileges);
  if (layers.has("limits")) outer.push(tools.prlimit, ...limitFlags(layers, machine));
  // The shell sets variables.
  if (layers.has("files")) outer.push(tools.env, "-i");
  // Last, because it refuses what the programs above need.
  if (layers.has("seccomp") && machine.filter !== undefined) {
    const { prctl, program } = machine.filter;
    outer.push(tools.perl, FILTER_LOADER, String(prctl), program.toString("hex"));
  }
  return [...outer, ...command];
}

/** The command that runs another one in a cgroup, or not at all. */
export function inGroup(command: string[], { tools }: Machine, group: ChildGroup | undefined): string[] {
  if (group === undefined) return command;
  return [tools.sh, "-c", 'echo 0 > "$0" && exec "$@"', group.joinFile, ...command];
}

function namespaceFlags(layers: ReadonlySet<Layer>, isRoot: boolean): string[] {
  const flags: string[] = [];
  if (layers.has("network")) flags.push("--net", "--ipc", "--uts");
  if (layers.has("processes")) flags.push("--pid", "--fork", "--kill-child");
  if (layers.has("files")) flags.push("--mount");
  // Only in a user namespace of its own may an ordinary user make the other namespaces.
  if (!isRoot && (flags.length > 0 || layers.has("user"))) flags.push("--user", "--map-root-user");
  return flags;
}

function privilegeFlags(layers: ReadonlySet<Layer>, isRoot: boolean, hasNamespaces: boolean, userId: number): string[] {
  const flags: string[] = [];
  if (layers.has("user") && isRoot) flags.push(`--reuid=${userId}`, `--regid=${userId}`, "--clear-groups");
  if (layers.has("capabilities")) {
    flags.push("--inh-caps=-all");
    if (isRoot || hasNamespaces) flags.push("--bounding-set=-all");
  }
  if (layers.has("no-new-privileges")) flags.push("--no-new-privs");
  // A change of the user clears what `--kill-child` has set.
  if (layers.has("processes") && flags.length > 0) flags.push("--pdeathsig=KILL");
  return flags;
}

function limitFlags(layers: ReadonlySet<Layer>, { countsByNamespace, isRoot }: Machine): string[] {
  const flags = ["--core=0", `--fsize=${MAX_FILE_BYTES}`];
  // Otherwise all processes of the service's user would count.
  if (layers.has("user") && (isRoot || countsByNamespace)) flags.push(`--nproc=${MAX_PROCESSES}`);
  return flags;
}
