import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
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
  const ps = promisify(execFile)("ps", ["-ww", "-o", "command=", "-p", String(pid)], { timeout: PS_TIMEOUT_MS });
  return ps.then(
    ({ stdout }) => `${stdout.trim()} `.includes(` ${argument} `),
    () => false,
  );
}

/** The pid that a server wrote into the first line of its pid file. */
export async function readPid(pidFile: string): Promise<number | undefined> {
  const text = await readFile(pidFile, "utf8").catch(() => "");
  const pid = Number.parseInt(text, 10);
  return pid > 1 ? pid : undefined;
}
