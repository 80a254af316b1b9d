import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The binding's loader looks here to tell musl from glibc. */
const LIBC_MARKER = "/etc/alpine-release";

/**
 * No environment, no files but its own sources and the engine binding, no child processes, no workers. Node 24 has no flag against the network;
 * what keeps a tool from it is that nothing in an isolate can reach it.
 */
export function spawnChild(ledgerFd: number): ChildProcess {
  const here = dirname(fileURLToPath(import.meta.url));
  const resolve = createRequire(import.meta.url).resolve;
  const engine = dirname(resolve("isolated-vm/package.json"));
  const readable = [here, engine, dirname(createRequire(join(engine, "package.json")).resolve("node-gyp-build"))];
  const flags = ["--permission", "--allow-addons", "--no-node-snapshot", "--disable-warning=SecurityWarning"];
  for (const path of readable) flags.push(`--allow-fs-read=${path}/*`);
  for (const path of [join(here, "../domain/host-functions.ts"), LIBC_MARKER]) flags.push(`--allow-fs-read=${path}`);
  return spawn(process.execPath, [...flags, join(here, "child.ts")], {
    env: {},
    cwd: "/",
    stdio: ["pipe", "pipe", "pipe", ledgerFd],
  });
}
