import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { openLog } from "./log-file.ts";

const SCRIPT = fileURLToPath(new URL("../apt-install.sh", import.meta.url));

/**
 * Installs Debian packages non-interactively and without starting their services; as root, or through `sudo` when that
 * needs no password. False when there is no apt-get, no right to use it, or when it failed (see `logFile`).
 */
export async function aptInstall(packages: string[], logFile: string, log: (line: string) => void): Promise<boolean> {
  if (!(await succeeds("apt-get", ["--version"]))) return false;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && !(await succeeds("sudo", ["-n", "true"]))) return false;
  log(`installing ${packages.join(", ")} with apt-get`);
  const output = await openLog(logFile);
  try {
    const [command, ...args] = [...(isRoot ? [] : ["sudo", "-n"]), "sh", SCRIPT, ...packages] as [string, ...string[]];
    if (await succeeds(command, args, output.handle.fd)) return true;
    log(`apt-get failed, see ${logFile}`);
    return false;
  } finally {
    await output.handle.close();
  }
}

async function succeeds(command: string, args: string[], outputFd?: number): Promise<boolean> {
  const output = outputFd ?? "ignore";
  try {
    const [code] = await once(spawn(command, args, { stdio: ["ignore", output, output] }), "exit");
    return code === 0;
  } catch {
    return false;
  }
}
