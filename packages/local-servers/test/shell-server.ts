import { join } from "node:path";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { openPorts } from "../src/ports.ts";
import { startServer } from "../src/server-process.ts";

/** Starts a shell script as if it were a Redis, in a folder of its own; `ready` gets the path of the pid file. */
export async function startShellServer(script: string, ready: (pidFile: string) => Promise<boolean>) {
  const folder = await temporaryFolder();
  const pidFile = join(folder, "pid");
  return startServer({
    name: "redis",
    ports: openPorts(join(folder, "ports.json")),
    command: "/bin/sh",
    cwd: folder,
    identity: folder,
    pidFile,
    logFile: join(folder, "server.log"),
    stopSignal: "SIGTERM",
    arguments: () => ["-c", script],
    ready: () => ready(pidFile),
    urls: () => ({}),
  });
}
