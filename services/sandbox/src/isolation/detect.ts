import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { release } from "node:os";
import { dirname } from "node:path";
import { CHILD_PROGRAM, READABLE_FOLDERS } from "../processes/child-files.ts";
import { isolated, type Machine } from "./command.ts";
import { LAYERS, type Layer } from "./layers.ts";
import { childFilter } from "./seccomp/filter.ts";

/** How this machine isolates sandbox children. */
export type Isolation = {
  readonly layers: ReadonlySet<Layer>;
  /** The command that runs another one in isolation. */
  wrap: (command: readonly string[]) => string[];
};

export const NO_ISOLATION: Isolation = { layers: new Set(), wrap: (command) => [...command] };

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
export function detectIsolation(wanted: readonly Layer[] = LAYERS): Isolation {
  if (process.platform !== "linux") return NO_ISOLATION;
  const machine = describeMachine();
  const possible = wanted.filter((layer) => layer !== "seccomp" || machine.filter !== undefined);
  const complete = isolationOf(new Set(possible), machine);
  if (works(complete)) return complete;
  const layers = new Set<Layer>();
  for (const layer of possible) {
    layers.add(layer);
    if (!works(isolationOf(layers, machine))) layers.delete(layer);
  }
  return isolationOf(layers, machine);
}

function isolationOf(layers: ReadonlySet<Layer>, machine: Machine): Isolation {
  return {
    layers,
    wrap: (command) => isolated(command, layers, machine, FIRST_USER + randomInt(USERS)),
  };
}

function describeMachine(): Machine {
  const [major = 0, minor = 0] = release().split(".").map(Number);
  const [neededMajor, neededMinor] = COUNTS_BY_NAMESPACE;
  const nodeFolder = dirname(realpathSync(process.execPath));
  return {
    isRoot: process.getuid?.() === 0,
    filter: childFilter(process.arch),
    countsByNamespace: major > neededMajor || (major === neededMajor && minor >= neededMinor),
    mountPoint: MOUNT_POINTS.find((path) => existsSync(path)) ?? "/",
    readable: [...SYSTEM_FOLDERS, ...(nodeFolder.startsWith("/usr/") ? [] : [nodeFolder]), ...READABLE_FOLDERS],
  };
}

/** Whether Node starts within the layers and can read what a child needs. */
function works({ wrap }: Isolation): boolean {
  const code = `require("fs").readFileSync(process.argv[1]); process.memoryUsage.rss(); process.stdout.write(${JSON.stringify(PROBE_ANSWER)})`;
  const probe = [realpathSync(process.execPath), "-e", code, CHILD_PROGRAM];
  const [file = "", ...args] = wrap(probe);
  const { stdout } = spawnSync(file, args, { env: {}, cwd: "/", timeout: PROBE_MS, killSignal: "SIGKILL" });
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
