import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { DEFAULT_POOL_LIMITS } from "../limits.ts";

/** The cgroup of one child. */
export type ChildGroup = {
  /** A process that writes 0 to this file joins the group. */
  readonly joinFile: string;
  /** Whether the system has ended a process of the group for lack of memory. */
  ranOutOfMemory: () => boolean;
  /** Ends what is left in the group and removes it, soon. */
  remove: () => void;
};

const NEEDED_CONTROLLERS = ["memory", "pids"];
const MIB = 1024 * 1024;
/** What one run may add between two looks at the child's resident memory, which ends it at `childRssMib`. */
const MARGIN_MIB = 128;
export const CHILD_MEMORY_MIB = DEFAULT_POOL_LIMITS.childRssMib + MARGIN_MIB;
/** The 256 processes and threads that the layer `limits` allows, and the programs around the child. */
const MAX_PROCESSES = 272;
const PREFIX = "toolgate-sandbox-";
/** For the processes of a container, because a cgroup has either processes or groups with limits. */
const SERVICE_GROUP = "toolgate-service";
const REMOVE_EVERY_MS = 50;
const REMOVE_TRIES = 200;

let groupCount = 0;

/**
 * The folders in which the groups of children could be: the nearest one above this process that lends memory limits to
 * its groups, or its own one after such limits have been turned on there. Those that cannot be written are found out by trying.
 */
export function* groupFolders(): Generator<string> {
  const own = ownFolder();
  if (own === undefined) return;
  const { mount, folder } = own;
  for (let at = folder; at.startsWith(mount); at = dirname(at)) {
    if (lendsLimits(at)) yield at;
  }
  if (!lendsLimits(folder) && turnOnLimits(folder, folder === mount)) yield folder;
}

/** Removes the groups of services that were killed, with what is left in them. */
export function removeLeftovers(folder: string): void {
  const namespace = `${PREFIX}${pidNamespace()}-`;
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(namespace)) continue;
    const [pid = "", startedAt] = name.slice(namespace.length).split("-");
    if (startTimeOf(pid) !== startedAt) removeGroup(join(folder, name));
  }
}

/** Makes a group for one child. Does not throw: a child that cannot join its group does not start. */
export function openGroup(folder: string, memoryMib: number): ChildGroup {
  groupCount += 1;
  const owner = `${pidNamespace()}-${process.pid}-${startTimeOf("self")}`;
  const group = join(folder, `${PREFIX}${owner}-${groupCount}`);
  const isLimited =
    tryTo(() => mkdirSync(group)) &&
    write(group, "memory.max", memoryMib * MIB) &&
    write(group, "pids.max", MAX_PROCESSES);
  // Not on every machine.
  write(group, "memory.swap.max", 0);
  write(group, "memory.oom.group", 1);
  return {
    joinFile: isLimited ? join(group, "cgroup.procs") : join(group, "unusable"),
    ranOutOfMemory: () => /^oom_kill [1-9]/mu.test(read(join(group, "memory.events"))),
    remove: () => removeGroup(group),
  };
}

function removeGroup(group: string, tries = REMOVE_TRIES): void {
  if (!existsSync(group) || tryTo(() => rmdirSync(group))) return;
  write(group, "cgroup.kill", 1);
  // Its processes need a moment to end.
  if (tries > 0) setTimeout(() => removeGroup(group, tries - 1), REMOVE_EVERY_MS).unref();
}

/** Where version 2 of the cgroups is mounted, and the folder of this process there. */
function ownFolder(): { mount: string; folder: string } | undefined {
  const path = /^0::(.*)$/mu.exec(read("/proc/self/cgroup"))?.[1];
  // The fourth field is the part of the tree that is mounted, the fifth where it is.
  const [, root, mount] = /^\S+ \S+ \S+ (\S+) (\S+) .* - cgroup2 /mu.exec(read("/proc/self/mountinfo")) ?? [];
  if (path === undefined || root === undefined || mount === undefined) return undefined;
  const below = relative(root, path);
  return below.startsWith("..") ? undefined : { mount, folder: join(mount, below) };
}

function lendsLimits(folder: string): boolean {
  const lent = read(join(folder, "cgroup.subtree_control")).split(/\s/u);
  return NEEDED_CONTROLLERS.every((controller) => lent.includes(controller));
}

/** Turns limits on for the groups in a folder. Its processes must leave it, so they must all belong to this service. */
function turnOnLimits(folder: string, isTop: boolean): boolean {
  const offered = read(join(folder, "cgroup.controllers")).split(/\s/u);
  if (!NEEDED_CONTROLLERS.every((controller) => offered.includes(controller))) return false;
  const pids = read(join(folder, "cgroup.procs")).split("\n").filter(Boolean);
  // Only the root of the machine may have both processes and groups with limits; it has no type.
  if (existsSync(join(folder, "cgroup.type"))) {
    const areOurs = isTop || pids.every((pid) => Number(pid) === process.pid);
    const group = join(folder, SERVICE_GROUP);
    if (!areOurs || !(existsSync(group) || tryTo(() => mkdirSync(group)))) return false;
    for (const pid of pids) write(group, "cgroup.procs", pid);
  }
  write(folder, "cgroup.subtree_control", "+cpu");
  return write(folder, "cgroup.subtree_control", NEEDED_CONTROLLERS.map((controller) => `+${controller}`).join(" "));
}

/** When a process started, in the kernel's ticks: a pid alone may have been given to another one. */
function startTimeOf(pid: string): string | undefined {
  const stat = read(`/proc/${pid}/stat`);
  // The name of the program, in brackets, may contain anything; the time is the 20th field after it.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

function pidNamespace(): string {
  return /\d+/u.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "";
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function write(group: string, file: string, value: string | number): boolean {
  return tryTo(() => writeFileSync(join(group, file), String(value)));
}

function tryTo(action: () => void): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}
