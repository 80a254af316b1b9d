import { expect, test } from "vitest";
import type { SandboxPool } from "../src/pool.ts";
import { handler, openPool, resultOf, runSource, until } from "./sandbox-harness.ts";

const ONE = handler("return 1");
/** It must not end by itself before the test does, however busy the machine is. */
const FOR_EVER = { cpuMs: 300_000, wallMs: 300_000 };

/** An endless run that has begun. */
async function endless(pool: SandboxPool, workspaceId: string) {
  const begun = Promise.withResolvers<string>();
  const onHostCall = async () => {
    begun.resolve("");
    return "null";
  };
  const leave = new AbortController();
  const source = handler("await ctx.callTool('begun'); for (;;);");
  const run = runSource(pool, source, { workspaceId, onHostCall, limits: FOR_EVER, signal: leave.signal });
  await Promise.race([begun.promise, run]);
  return { run, leave: () => leave.abort() };
}

test("[TOOL-2] each workspace has a process of its own, and keeps it", async () => {
  await using pool = openPool();
  for (const workspaceId of ["a", "b", "a", "b"]) expect(await resultOf(pool, ONE, { workspaceId })).toBe(1);
  const [a, b] = [pool.pids("a"), pool.pids("b")];
  expect([a.length, b.length]).toEqual([1, 1]);
  expect(a).not.toEqual(b);
  await resultOf(pool, ONE, { workspaceId: "a" });
  expect(pool.pids("a")).toEqual(a);
});

test("[TOOL-2] an endless run holds up neither the other tools of its workspace nor those of others", async () => {
  await using pool = openPool();
  const { run, leave } = await endless(pool, "a");
  const others = Array.from({ length: 20 }, (_, n) => resultOf(pool, handler(`return ${n}`), { workspaceId: "a" }));
  expect(await Promise.all(others)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  expect(await resultOf(pool, ONE, { workspaceId: "b" })).toBe(1);
  expect(pool.pids("a").length).toBeGreaterThan(1);
  leave();
  expect((await run).kind).toBe("cancelled");
});

test("[TOOL-2] the process of the workspace that has rested longest ends to make room for another one", async () => {
  await using pool = openPool({}, { processes: 2 });
  for (const workspaceId of ["a", "b", "c"]) expect(await resultOf(pool, ONE, { workspaceId })).toBe(1);
  expect(["a", "b", "c"].map((workspaceId) => pool.pids(workspaceId).length)).toEqual([0, 1, 1]);
  const { leave } = await endless(pool, "b");
  expect(await resultOf(pool, ONE, { workspaceId: "a" })).toBe(1);
  expect(["a", "b", "c"].map((workspaceId) => pool.pids(workspaceId).length)).toEqual([1, 1, 0]);
  leave();
});

test("[TOOL-2] no number of endless runs keeps another workspace from getting a process", async () => {
  await using pool = openPool({}, { processes: 4 });
  const first = await Promise.all([1, 2].map(() => endless(pool, "greedy")));
  const more = Array.from({ length: 10 }, () =>
    runSource(pool, handler("for (;;);"), { workspaceId: "greedy", limits: FOR_EVER }),
  );
  await until("the greedy one has its share", () => pool.pids("greedy").length === 2);
  for (const workspaceId of ["a", "b"]) expect(await resultOf(pool, ONE, { workspaceId })).toBe(1);
  expect(pool.pids("greedy")).toHaveLength(2);
  for (const { leave } of first) leave();
  await pool[Symbol.asyncDispose]();
  expect(new Set((await Promise.all(more)).map(({ kind }) => kind))).toEqual(new Set(["interrupted"]));
});

test("[TOOL-2] the time of a run ends it in an endless step, and while it waits for a process", async () => {
  await using pool = openPool({}, { processes: 1 });
  const { run, leave } = await endless(pool, "a");
  const limits = { cpuMs: 300_000, wallMs: 2_000 };
  expect((await runSource(pool, ONE, { workspaceId: "b", limits })).kind).toBe("overloaded");
  leave();
  await run;
  // A busy machine may take long to begin it.
  for (let kind = "overloaded"; kind !== "timeout"; ) {
    ({ kind } = await runSource(pool, handler("for (;;);"), { workspaceId: "b", limits }));
    expect(["overloaded", "timeout"]).toContain(kind);
  }
  expect(await resultOf(pool, ONE, { workspaceId: "b" })).toBe(1);
});
