import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const PS_TIMEOUT_MS = 5_000;

/** True when a process with this id exists, whoever owns it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * True when process `pid` runs and has `argument` as one of its arguments: its pid may since have been given to
 * another process.
 */
export async function runsWith(pid: number, argument: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const fromProc = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => undefined);
  if (fromProc !== undefined) return fromProc.split("\0").includes(argument);
  return `${await ps(pid, "command=")} `.includes(` ${argument} `);
}

/** When process `pid` was started, to tell it from a later one with the same pid. `undefined` when it does not run. */
export async function startMark(pid: number): Promise<string | undefined> {
  if (!isAlive(pid)) return undefined;
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return ps(pid, "lstart=");
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
  // The second field is the program's name in brackets and may contain spaces; the start time is the 22nd of all.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return `${boot.trim()}/${fields[19]}`;
}

/** The pid that a server wrote into the first line of its pid file. */
export async function readPid(pidFile: string): Promise<number | undefined> {
  const text = await readFile(pidFile, "utf8").catch(() => "");
  const pid = Number.parseInt(text, 10);
  return pid > 1 ? pid : undefined;
}

async function ps(pid: number, format: string): Promise<string> {
  const output = await promisify(execFile)("ps", ["-ww", "-o", format, "-p", String(pid)], {
    timeout: PS_TIMEOUT_MS,
  }).catch(() => undefined);
  return output?.stdout.trim() ?? "";
}

/** Waits until `condition` is true; false when the deadline passes first. */
export async function until(
  condition: () => Promise<boolean> | boolean,
  { deadlineMs, everyMs }: { deadlineMs: number; everyMs: number },
): Promise<boolean> {
  const end = performance.now() + deadlineMs;
  while (!(await condition())) {
    if (performance.now() >= end) return false;
    await sleep(everyMs);
  }
  return true;
}
