import { type ChildProcess, spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import type { Isolation } from "../isolation/detect.ts";
import { CHILD_PROGRAM, READABLE_FOLDERS } from "./child-files.ts";

/** isolated-vm's loader looks here to tell musl from glibc. */
const LIBC_MARKER = "/etc/alpine-release";

/** V8 gets one helper thread for compiling and collecting garbage, not four, which would take the processors from others. */
const ONE_HELPER = "--v8-pool-size=1";

/**
 * A child has no environment, may read only its own sources and isolated-vm, and may start no processes or workers.
 * Node 24 has no flag against network access; the isolation around it removes the network where the machine can.
 */
export function spawnChild(isolation: Isolation): ChildProcess {
  const readable = [...READABLE_FOLDERS.map((folder) => `${folder}/*`), LIBC_MARKER];
  const flags = [
    "--permission",
    "--allow-addons",
    "--no-node-snapshot",
    "--disable-warning=SecurityWarning",
    ONE_HELPER,
  ];
  for (const path of readable) flags.push(`--allow-fs-read=${path}`);
  const node = realpathSync(process.execPath);
  const [file = node, ...args] = isolation.wrap([node, ...flags, CHILD_PROGRAM]);
  return spawn(file, args, {
    env: {},
    cwd: "/",
    stdio: "pipe",
  });
}
