import { describe, expect, it } from "vitest";
import { NO_ISOLATION } from "../../src/sandbox/isolation/detect.ts";
import type { SandboxPool } from "../../src/sandbox/pool.ts";
import { openPool, resultOf, runSource, spawnIn, until } from "./sandbox-harness.ts";

const HOLD = "await ctx.callTool('hold')";
const tool = (n: number, body = "") => `export default async (args, ctx) => { ${body}; return ${n}; }`;

/** Runs that stay in a host call until `end`. */
function holding(pool: SandboxPool, workspaceId: string, total: number) {
  const gate = Promise.withResolvers<string>();
  let reached = 0;
  const onHostCall = () => {
    reached += 1;
    return gate.promise;
  };
  const runs = Array.from({ length: total }, (_, n) =>
    runSource(pool, tool(n, HOLD), { workspaceId, codeKey: `${workspaceId}/${n}/1`, onHostCall }),
  );
  return {
    reached: () => reached,
    async end() {
      gate.resolve("null");
      return Promise.all(runs);
    },
  };
}

describe("shares of the sandbox", () => {
  it("[TOOL-2] tools for which a child has no isolate wait, and no run is ended to make room", async () => {
    await using pool = openPool(1);
    const many = Array.from({ length: 20 }, (_, n) => holding(pool, `w${n}`, 10));
    const reached = () => many.reduce((sum, each) => sum + each.reached(), 0);
    await until("the child is full", () => reached() >= 80);
    const outcomes = await Promise.all(many.map((each) => each.end()));
    expect(outcomes.flat().filter(({ kind }) => kind !== "ok")).toEqual([]);
    expect(reached()).toBe(200);
  });

  it("[TOOL-2] the tools of one workspace never take all isolates of a child", async () => {
    await using pool = openPool(1);
    const greedy = holding(pool, "greedy", 160);
    await until("the greedy workspace fills its share", () => greedy.reached() >= 40);
    const others = Array.from({ length: 5 }, (_, n) =>
      resultOf(pool, tool(n), { workspaceId: `w${n}`, codeKey: `w${n}/t/1` }),
    );
    expect(await Promise.all(others)).toEqual([0, 1, 2, 3, 4]);
    expect((await greedy.end()).filter(({ kind }) => kind !== "ok")).toEqual([]);
  });

  it("[TOOL-2] one workspace's runs never take all places of the pool", async () => {
    await using pool = openPool(1, { activeRuns: 60 });
    const holder = (workspaceId: string) => {
      const gate = Promise.withResolvers<string>();
      const onHostCall = () => gate.promise;
      const codeKey = `${workspaceId}/t/1`;
      const runs = Array.from({ length: 60 }, () =>
        runSource(pool, tool(1, HOLD), { workspaceId, codeKey, onHostCall }).then(({ kind }) => kind),
      );
      return { runs, release: () => gate.resolve("null") };
    };
    const one = holder("one");
    const two = holder("two");
    expect(await resultOf(pool, tool(7), { workspaceId: "three", codeKey: "three/t/1" })).toBe(7);
    one.release();
    two.release();
    const endings = await Promise.all([...one.runs, ...two.runs]);
    expect(endings.slice(0, 60).filter((kind) => kind === "ok")).toHaveLength(30);
    expect(endings.slice(60).filter((kind) => kind === "ok")).toHaveLength(15);
    expect(endings.every((kind) => kind === "ok" || kind === "overloaded")).toBe(true);
  });

  it("[ERR-18] a run that no child can begin ends early as not begun, and the pool is not ready meanwhile", async () => {
    // Without isolation the process that is stopped is the one that would become ready.
    await using pool = openPool(1, { startPatienceMs: 300 }, { spawn: spawnIn(NO_ISOLATION) });
    for (const pid of pool.pids()) process.kill(pid, "SIGSTOP");
    expect(pool.isReady()).toBe(false);
    const outcome = runSource(pool, tool(1), { limits: { wallMs: 60_000 } });
    expect((await outcome).kind).toBe("overloaded");
    for (const pid of pool.pids()) process.kill(pid, "SIGCONT");
    await until("the pool is ready", () => pool.isReady());
    expect(await resultOf(pool, tool(2))).toBe(2);
  });

  it("[ERR-18] a run whose time ends before a child begins it counts as not begun", async () => {
    await using pool = openPool(1);
    const greedy = holding(pool, "greedy", 60);
    await until("the greedy workspace fills its share", () => greedy.reached() >= 40);
    const late = runSource(pool, tool(1), { workspaceId: "greedy", codeKey: "greedy/late/1", limits: { wallMs: 200 } });
    expect((await late).kind).toBe("overloaded");
    await greedy.end();
  });

  it("[ERR-9] [ERR-18] a return value that is not JSON and what the code of the tool throws have different outcomes", async () => {
    await using pool = openPool(1);
    for (const value of ["10n", "(() => { const a = {}; a.a = a; return a; })()"]) {
      const outcome = await runSource(pool, `export default () => (${value})`);
      expect(outcome.kind).toBe("unserializable");
    }
    const ofItsCode = [
      "throw new TypeError('no')",
      "return { get a() { throw new Error('no') } }",
      "return { toJSON() { throw 5 } }",
      "let a = {}; for (let n = 0; n < 200_000; n += 1) a = { a }; return a",
    ];
    for (const body of ofItsCode) {
      expect((await runSource(pool, `export default () => { ${body} }`)).kind, body).toBe("threw");
    }
    expect(await resultOf(pool, "export default () => undefined")).toBe(null);
  });
});
