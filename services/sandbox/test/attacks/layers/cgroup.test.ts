import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openGroup, removeLeftovers } from "../../../src/isolation/cgroups.ts";
import { detectIsolation, type Isolation } from "../../../src/isolation/detect.ts";
import { LAYERS } from "../../../src/isolation/layers.ts";
import { handler, openPool, resultOf, runSource, spawnIn, until } from "../../sandbox-harness.ts";

const MIB = 1024 * 1024;
/** More than an idle child needs, and less than eight tools may keep. */
const BOUND_MIB = 224;
const TOOLS = 8;
const KEEPS = handler(
  `await ctx.callTool('begun'); const kept = [];
   try { for (;;) kept.push(new Uint8Array(${MIB}).fill(1)) } catch {}
   await ctx.callTool('full'); return kept.length`,
);
const WITHOUT = detectIsolation(LAYERS.filter((layer) => layer !== "cgroup"));
const GROUPED = detectIsolation(LAYERS, BOUND_MIB);
const hasGroups = GROUPED.layers.has("cgroup");
const TESTS_IN_GROUPS = 2;
if (!hasGroups) console.log(`${TESTS_IN_GROUPS} tests skipped for lack of the layer cgroup`);

/** Fills one child with tools that keep all memory that they can get, until it ends. All of them have made a call by then. */
async function fillChild(isolation: Isolation, childRssMib: number) {
  const ends: unknown[] = [];
  const log = { warn: ({ killedFor }: Record<string, unknown>) => ends.push(killedFor) };
  await using pool = openPool({ childRssMib }, { log, spawn: spawnIn(isolation) });
  await resultOf(pool, handler("return 1"));
  const allHaveBegun = Promise.withResolvers<string>();
  const childHasEnded = Promise.withResolvers<string>();
  let begun = 0;
  const onHostCall = (_name: string, argsJson: string) => {
    if (!argsJson.includes("begun")) return childHasEnded.promise;
    begun += 1;
    if (begun === TOOLS) allHaveBegun.resolve("null");
    return allHaveBegun.promise;
  };
  const runs = Array.from({ length: TOOLS }, (_, n) =>
    runSource(pool, KEEPS, { codeKey: `t${n}`, onHostCall, limits: { cpuMs: 5_000 } }),
  );
  await until("the child has been ended for its memory", () => ends.length > 0);
  childHasEnded.resolve("null");
  const kinds = (await Promise.all(runs)).map(({ kind }) => kind);
  expect(ends).toEqual(["memory"]);
  expect(kinds.filter((kind) => kind === "memory")).toHaveLength(1);
  expect(new Set(kinds)).toEqual(new Set(["memory", "interrupted"]));
  expect(await resultOf(pool, handler("return 2"))).toBe(2);
}

describe("the bound on a child's memory", () => {
  it("[TOOL-2] without cgroups it is the resident memory that the child reads", () => fillChild(WITHOUT, BOUND_MIB));

  it.runIf(hasGroups)("[TOOL-2] in a cgroup the system keeps it", () => fillChild(GROUPED, Number.MAX_SAFE_INTEGER));

  it.runIf(hasGroups)(
    "[TOOL-2] a child's cgroup goes with it, and one of a killed tool-runner at the next start",
    async () => {
      const group = GROUPED.openGroup?.();
      const folder = dirname(dirname(group?.joinFile ?? ""));
      group?.remove();
      const owner = join(import.meta.dirname, "cgroup-owner.ts");
      const killed = spawn(process.execPath, [owner, folder], { stdio: ["ignore", "pipe", "inherit"] });
      const [line] = await once(killed.stdout, "data");
      const { left, pid } = JSON.parse(String(line)) as { left: string; pid: number };
      killed.kill("SIGKILL");
      await once(killed, "close");
      expect(readFileSync(join(left, "cgroup.procs"), "utf8").split("\n")).toContain(String(pid));
      removeLeftovers(folder);
      await until("the group has gone", () => !existsSync(left));
      const ours = `-${process.pid}-`;
      await until("our groups have gone", () => !readdirSync(folder).some((name) => name.includes(ours)));
    },
  );
});

describe("the cgroup of a child", () => {
  const folder = mkdtempSync(join(tmpdir(), "cgroups-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  it("[TOOL-2] bounds memory and processes, and says whether memory ran out", () => {
    const group = openGroup(folder, 100);
    const own = dirname(group.joinFile);
    const contentOf = (file: string) => readFileSync(join(own, file), "utf8");
    expect(contentOf("memory.max")).toBe(String(100 * MIB));
    expect(contentOf("memory.swap.max")).toBe("0");
    expect(contentOf("memory.oom.group")).toBe("1");
    expect(Number(contentOf("pids.max"))).toBeLessThan(1_000);
    expect(group.ranOutOfMemory()).toBe(false);
    writeFileSync(join(own, "memory.events"), "low 0\noom 1\noom_kill 1\noom_group_kill 1\n");
    expect(group.ranOutOfMemory()).toBe(true);
  });

  it("[TOOL-2] that could not be limited cannot be joined, so its child does not start", () => {
    const group = openGroup(join(folder, "missing"), 100);
    expect(existsSync(dirname(dirname(group.joinFile)))).toBe(false);
    expect(basename(group.joinFile)).not.toBe("cgroup.procs");
  });
});
