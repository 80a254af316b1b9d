import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { handler, openPool, resultOf, runSource, until } from "../../sandbox-harness.ts";

const MIB = 1024 * 1024;
/** More than an idle child needs, and less than eight tools may keep. */
const BOUND_MIB = 224;
const TOOLS = 8;
const KEEPS = handler(
  `await ctx.callTool('begun'); const kept = [];
   try { for (;;) kept.push(new Uint8Array(${MIB}).fill(1)) } catch {}
   await ctx.callTool('full'); return kept.length`,
);

/** Fills one child with tools that keep all memory that they can get, until it ends. All of them have made a call by then. */
async function fillChild() {
  const ends: unknown[] = [];
  const log = { warn: ({ killedFor }: Record<string, unknown>) => ends.push(killedFor) };
  await using pool = openPool({ childRssMib: BOUND_MIB, stallMs: 60_000 }, { log });
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

it("[TOOL-2] a child that exceeds its resident memory is ended, and only its current run is to blame", () =>
  fillChild());

it.runIf(process.platform === "linux")(
  "[TOOL-2] when the machine runs out of memory, the system ends a child before the service",
  async () => {
    await using pool = openPool();
    await resultOf(pool, handler("return 1"));
    for (const pid of pool.pids("workspace")) {
      expect(readFileSync(`/proc/${pid}/oom_score_adj`, "utf8").trim()).toBe("1000");
    }
  },
);
