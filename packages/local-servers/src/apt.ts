import { fileURLToPath } from "node:url";
import { succeeds } from "./child.ts";
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
  await using output = (await openLog(logFile)).handle;
  const args = [...(isRoot ? [] : ["-n", "sh"]), SCRIPT, ...packages];
  const installed = await succeeds(isRoot ? "sh" : "sudo", args, { stdio: ["ignore", output.fd, output.fd] });
  if (!installed) log(`apt-get failed, see ${logFile}`);
  return installed;
}
