import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { Layer } from "../../../src/isolation/layers.ts";

/** The layers that prevent each attempt; any one of them is enough. */
const PREVENTED_BY: Record<string, Layer[]> = {
  "read environ of the service": ["processes", "user"],
  "open the memory of the service": ["processes", "user"],
  "read maps of the service": ["processes", "user"],
  "list the folder of the service": ["processes", "user"],
  "read root/etc/passwd of the service": ["processes", "user"],
  "read a file of the service": ["files"],
  "read the sources of the service": ["files"],
  "read the users of the machine": ["files"],
  "write a file": ["files", "seccomp"],
  "write next to Node": ["files", "seccomp"],
  "write a source of the sandbox": ["files", "seccomp"],
  "signal the service": ["processes", "seccomp"],
  "signal another process": ["processes", "seccomp"],
  "become another user": ["capabilities"],
  "keep a capability": ["capabilities"],
  "gain privileges": ["no-new-privileges"],
  "find a variable": ["no-new-privileges"],
  "open a connection to the sandbox process": ["network", "seccomp"],
  "open a socket": ["seccomp"],
  "make a namespace": ["seccomp"],
  "trace a process": ["seccomp"],
  "keep a key in the kernel": ["seccomp"],
  "open a pair of sockets": ["seccomp"],
  "keep memory outside of itself": ["seccomp"],
  "start a program": ["seccomp"],
  "fork a process": ["seccomp"],
  "fork a thousand processes": ["user"],
};

const NOBODY = "65534";
const isRoot = process.getuid?.() === 0;
/** The service as the user who runs the tests and, for root, also as an ordinary user. */
const SERVICES: { user: string; prefix: string[] }[] = [
  { user: "this user", prefix: [] },
  ...(isRoot
    ? [{ user: "an ordinary user", prefix: ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] }]
    : []),
];

type Report = { layers: Layer[]; done: Record<string, boolean> };

async function attemptAll(prefix: string[], isolation: "none" | "all"): Promise<Report> {
  const program = join(import.meta.dirname, "escape-attempts.ts");
  const [file = "", ...args] = [...prefix, process.execPath, program, isolation];
  const { stdout } = await promisify(execFile)(file, args, { env: { PATH: process.env.PATH }, cwd: "/" });
  return JSON.parse(stdout) as Report;
}

describe.runIf(process.platform === "linux")("a sandbox child from which a guest has broken out", () => {
  it.each(SERVICES)("[TOOL-2] can do nothing outside of itself when the service runs as $user", async ({ prefix }) => {
    const { layers, done } = await attemptAll(prefix, "all");
    expect(Object.keys(done).sort()).toEqual(Object.keys(PREVENTED_BY).sort());
    const skipped: string[] = [];
    const succeeded: string[] = [];
    for (const [name, preventing] of Object.entries(PREVENTED_BY)) {
      if (!preventing.some((layer) => layers.includes(layer))) skipped.push(name);
      else if (done[name]) succeeded.push(name);
    }
    if (skipped.length > 0)
      console.log(`${skipped.length} attempts skipped for lack of a layer: ${skipped.join(", ")}`);
    expect(succeeded).toEqual([]);
  });

  it("[TOOL-2] could do all of that without isolation", async () => {
    const { done } = await attemptAll([], "none");
    const failed = Object.keys(done).filter((name) => !done[name]);
    // Not possible for every user, or not there.
    const depends = [
      "become another user",
      "find a variable",
      "keep a capability",
      "open the memory of the service",
      "make a namespace",
    ];
    expect(failed.filter((name) => !depends.includes(name))).toEqual([]);
  });
});
