import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { GuestSettings } from "../protocol/messages.ts";

const SANDBOX_FOLDER = dirname(import.meta.dirname);
/** isolated-vm's loader looks here to tell musl from glibc. */
const LIBC_MARKER = "/etc/alpine-release";

/**
 * A child has no environment, may read only its own sources and isolated-vm, and may start no processes or workers.
 * Node 24 has no flag against network access; what prevents it is that nothing in an isolate can reach the network.
 */
export function spawnChild(progressFd: number, settings: GuestSettings): ChildProcess {
  const engine = dirname(createRequire(import.meta.url).resolve("isolated-vm/package.json"));
  const engineLoader = dirname(createRequire(join(engine, "package.json")).resolve("node-gyp-build"));
  const readable = [`${SANDBOX_FOLDER}/*`, `${engine}/*`, `${engineLoader}/*`, LIBC_MARKER];
  const flags = ["--permission", "--allow-addons", "--no-node-snapshot", "--disable-warning=SecurityWarning"];
  for (const path of readable) flags.push(`--allow-fs-read=${path}`);
  return spawn(process.execPath, [...flags, join(SANDBOX_FOLDER, "child/main.ts"), JSON.stringify(settings)], {
    env: {},
    cwd: "/",
    // A separate process group, so that Ctrl-C in a terminal reaches only the service, which lets runs end first.
    detached: true,
    stdio: ["pipe", "pipe", "pipe", progressFd],
  });
}
