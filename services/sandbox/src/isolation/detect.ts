import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { release } from "node:os";
import { dirname, join } from "node:path";
import { CHILD_PROGRAM, READABLE_FOLDERS } from "../processes/child-files.ts";
import { CHILD_MEMORY_MIB, type ChildGroup, groupFolders, openGroup, removeLeftovers } from "./cgroups.ts";
import { inGroup, isolated, type Machine, type Tool } from "./command.ts";
import { LAYERS, type Layer } from "./layers.ts";
import { childFilter } from "./seccomp/filter.ts";

/** How this machine isolates sandbox children. */
export type Isolation = {
  readonly layers: ReadonlySet<Layer>;
  /** The command that runs another one in isolation, in the given group. */
  wrap: (command: readonly string[], group?: ChildGroup) => string[];
  /** Makes the cgroup of a child; absent without the layer. */
  openGroup?: () => ChildGroup;
};

export const NO_ISOLATION: Isolation = { layers: new Set(), wrap: (command) => [...command] };

const TOOL_FOLDERS = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"];
const MOUNT_POINTS = ["/mnt", "/sys"];
const SYSTEM_FOLDERS = ["/usr", "/lib", "/lib64"];
/** Each child gets one of these users, in the range that systemd also uses for users without a name. */
const FIRST_USER = 61_184;
const USERS = 4_000;
/** Linux 5.14 counts processes by user namespace. */
const COUNTS_BY_NAMESPACE = [5, 14] as const;
const PROBE_MS = 10_000;
const PROBE_ANSWER = "isolated";

/** Finds out which layers work here, by trying them. */
export function detectIsolation(wanted: readonly Layer[] = LAYERS, memoryMib = CHILD_MEMORY_MIB): Isolation {
  if (process.platform !== "linux") return NO_ISOLATION;
  const machine = describeMachine();
  const isolation = detectCommand(
    wanted.filter((layer) => layer !== "cgroup" && (layer !== "seccomp" || machine.filter !== undefined)),
    machine,
  );
  return wanted.includes("cgroup") ? withGroups(isolation, memoryMib) : isolation;
}

/** Adds the layer `cgroup` if it works. */
function withGroups(isolation: Isolation, memoryMib: number): Isolation {
  for (const folder of groupFolders()) {
    const grouped = {
      ...isolation,
      layers: new Set([...isolation.layers, "cgroup" as const]),
      openGroup: () => openGroup(folder, memoryMib),
    };
    if (!works(grouped)) continue;
    removeLeftovers(folder);
    return grouped;
  }
  return isolation;
}

function detectCommand(wanted: readonly Layer[], machine: Machine): Isolation {
  const all = new Set(wanted);
  const complete = isolationOf(all, machine);
  if (works(complete)) return complete;
  const layers = new Set<Layer>();
  for (const layer of wanted) {
    layers.add(layer);
    if (!works(isolationOf(layers, machine))) layers.delete(layer);
  }
  return isolationOf(layers, machine);
}

function isolationOf(layers: ReadonlySet<Layer>, machine: Machine): Isolation {
  return {
    layers,
    wrap: (command, group) =>
      inGroup(isolated(command, layers, machine, FIRST_USER + randomInt(USERS)), machine, group),
  };
}

function describeMachine(): Machine {
  const [major = 0, minor = 0] = release().split(".").map(Number);
  const [neededMajor, neededMinor] = COUNTS_BY_NAMESPACE;
  const nodeFolder = dirname(realpathSync(process.execPath));
  return {
    isRoot: process.getuid?.() === 0,
    tools: {
      chroot: pathOf("chroot"),
      env: pathOf("env"),
      perl: pathOf("perl"),
      prlimit: pathOf("prlimit"),
      setpriv: pathOf("setpriv"),
      sh: pathOf("sh"),
      unshare: pathOf("unshare"),
    },
    filter: childFilter(process.arch),
    countsByNamespace: major > neededMajor || (major === neededMajor && minor >= neededMinor),
    mountPoint: MOUNT_POINTS.find((path) => existsSync(path)) ?? "/",
    readable: [...SYSTEM_FOLDERS, ...(nodeFolder.startsWith("/usr/") ? [] : [nodeFolder]), ...READABLE_FOLDERS],
  };
}

function pathOf(tool: Tool): string {
  return TOOL_FOLDERS.map((folder) => join(folder, tool)).find((path) => existsSync(path)) ?? tool;
}

/** Whether Node starts within the layers and can read what a child needs. */
function works({ wrap, openGroup }: Isolation): boolean {
  const code = `require("fs").readFileSync(process.argv[1]); process.memoryUsage.rss(); process.stdout.write(${JSON.stringify(PROBE_ANSWER)})`;
  const probe = [realpathSync(process.execPath), "-e", code, CHILD_PROGRAM];
  const group = openGroup?.();
  const [file = "", ...args] = wrap(probe, group);
  const { stdout } = spawnSync(file, args, { env: {}, cwd: "/", timeout: PROBE_MS, killSignal: "SIGKILL" });
  group?.remove();
  return stdout?.toString() === PROBE_ANSWER;
}

/** The process that a wrapper such as `unshare --fork` has started; undefined while there is none. */
export function onlyChildOf(pid: number): number | undefined {
  try {
    const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, "ascii").trim().split(" ");
    return first ? Number(first) : undefined;
  } catch {
    return undefined;
  }
}
