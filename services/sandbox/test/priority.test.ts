import { existsSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { expect, it } from "vitest";
import { handler, openPool, resultOf } from "./sandbox-harness.ts";

const NICE = 7;
const LOWEST = 19;
const OWN_SESSION = "/proc/self/autogroup";
const sessionPriority = (pid: number | "self") =>
  existsSync(OWN_SESSION) ? / nice (-?\d+)$/u.exec(readFileSync(`/proc/${pid}/autogroup`, "utf8").trim())?.[1] : "none";

it.runIf(process.platform === "linux")(
  "[TOOL-2] services come before tools at the processors, and Ctrl-C in a terminal does not reach them",
  async () => {
    const before = sessionPriority("self");
    await using pool = openPool();
    await resultOf(pool, handler("return 1"));
    const [pid = 0] = pool.pids("workspace");
    expect(getPriority(pid)).toBe(Math.min(getPriority() + NICE, LOWEST));
    if (before !== "none") expect(sessionPriority(pid)).toBe(`${NICE}`);
    expect(sessionPriority("self")).toBe(before);
    // After the name, which is in brackets: the state, the parent, the process group, the session.
    const sessionOf = (of: number | "self") =>
      readFileSync(`/proc/${of}/stat`, "utf8").split(") ").at(-1)?.split(" ")[3];
    expect(sessionOf(pid)).not.toBe(sessionOf("self"));
  },
);
