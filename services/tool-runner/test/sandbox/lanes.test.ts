import { existsSync, readdirSync, readFileSync } from "node:fs";
import { constants, getPriority } from "node:os";
import { describe, expect, it } from "vitest";
import { LANES } from "../../src/sandbox/lanes.ts";
import type { SandboxPool } from "../../src/sandbox/pool.ts";
import { killedPromptly, openPool, resultOf, runSource, until } from "./sandbox-harness.ts";

const HOLDING = "export default async (args, ctx) => { await ctx.callTool('hold'); return args.workspace }";

/** A run of new code that has called the host and waits for the result. */
async function hold(pool: SandboxPool, workspaceId: string) {
  const gate = Promise.withResolvers<string>();
  let reached = false;
  const outcome = runSource(pool, HOLDING, {
    workspaceId,
    standing: "new",
    codeKey: `${workspaceId}/t/1`,
    args: { workspace: workspaceId },
    onHostCall: () => {
      reached = true;
      return gate.promise;
    },
  });
  await until(`${workspaceId} waits`, () => reached);
  return { outcome, release: () => gate.resolve("null") };
}

/** The priorities of a process's threads. */
function prioritiesOf(pid: number): Set<number> {
  return new Set(readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread))));
}

/** Whether the kernel shares out the processors among sessions, and only then among the processes of each. */
function groupsSessions(): boolean {
  const setting = "/proc/sys/kernel/sched_autogroup_enabled";
  return existsSync(setting) && readFileSync(setting, "ascii").trim() === "1";
}

function sessionPriorityOf(pid: number): number {
  return Number(/nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, "ascii"))?.[1]);
}

describe("lanes", () => {
  it("[TOOL-2] new code of different workspaces never shares a child, nor one with known code", async () => {
    await using pool = openPool(1);
    await resultOf(pool, "export default () => 1");
    const known = pool.pids().slice(0, 1);
    const held = [];
    const childOf = new Map<number, string>();
    for (const workspaceId of ["a", "b", "c", "d"]) {
      const before = pool.pids();
      held.push({ workspaceId, ...(await hold(pool, workspaceId)) });
      for (const pid of pool.pids()) if (!before.includes(pid)) childOf.set(pid, workspaceId);
    }
    // The warm spare of the start served the first workspace.
    expect(pool.pids()).toHaveLength(6);
    expect(pool.pids().slice(0, 1)).toEqual(known);
    const [first = 0] = pool.pids().slice(1);
    process.kill(first, "SIGKILL");
    const [{ outcome: lost }, ...others] = held as [(typeof held)[0], ...typeof held];
    expect((await lost).kind).toBe("interrupted");
    for (const { release } of others) release();
    expect((await Promise.all(others.map(({ outcome }) => outcome))).map(({ kind }) => kind)).toEqual([
      "ok",
      "ok",
      "ok",
    ]);
  });

  it.runIf(process.platform === "linux")(
    "[FAIR-4] every thread of a child for new code, and its session, has a lower priority",
    async () => {
      await using pool = openPool(1);
      await resultOf(pool, "export default () => 1");
      const [ordinary = 0] = pool.pids();
      const held = await hold(pool, "a");
      const [fresh = 0] = pool.pids().slice(1);
      const { PRIORITY_NORMAL } = constants.priority;
      const lower = LANES.new.priority;
      expect(prioritiesOf(ordinary)).toEqual(new Set([PRIORITY_NORMAL]));
      await until("all threads", () => prioritiesOf(fresh).size === 1);
      expect(prioritiesOf(fresh)).toEqual(new Set([lower]));
      if (groupsSessions()) {
        expect(sessionPriorityOf(ordinary)).toBe(PRIORITY_NORMAL);
        await until("the session", () => sessionPriorityOf(fresh) === lower);
      }
      held.release();
      await held.outcome;
    },
  );

  it("[TOOL-2] a workspace that keeps a child of the new lane busy does not keep it from another for long", async () => {
    await using pool = openPool(1);
    let going = true;
    const busy = ["a", "b", "c", "d"].map(async (workspaceId) => {
      for (let n = 0; going; n += 1) {
        const codeKey = `${workspaceId}/t/${n}`;
        const each = [0, 1].map(() => runSource(pool, HOLDING, { workspaceId, standing: "new", codeKey }));
        await Promise.all(each);
      }
    });
    const late = { workspaceId: "late", standing: "new", codeKey: "late/t/1" } as const;
    const outcome = await runSource(pool, HOLDING, late);
    going = false;
    await Promise.all(busy);
    expect(outcome.kind).toBe("ok");
  });

  it("[TOOL-2] a workspace whose code harmed a child loses its place in the children that it shares", async () => {
    const harms: string[] = [];
    await using pool = openPool(
      2,
      { killGraceMs: 100 },
      { onHarm: (workspaceId) => harms.push(workspaceId), spawn: killedPromptly },
    );
    const bomb = "export default () => Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)";
    const neighbour = { workspaceId: "neighbour" };
    const gate = Promise.withResolvers<string>();
    let reached = 0;
    const onHostCall = () => {
      reached += 1;
      return gate.promise;
    };
    const waiting = [0, 1, 2, 3].map((n) =>
      runSource(pool, HOLDING, { ...neighbour, codeKey: `neighbour/${n}/1`, onHostCall }),
    );
    // In both children, waiting for the host: it could harm the second child when it continues.
    const timeBombs = [0, 1, 2, 3].map((n) =>
      runSource(pool, HOLDING, { workspaceId: "harmful", codeKey: `harmful/${n}/1`, onHostCall }),
    );
    await until("all wait", () => reached === 8);
    const harmful = { workspaceId: "harmful", standing: "new", limits: { cpuMs: 100 } } as const;
    expect((await runSource(pool, bomb, harmful)).kind).toBe("cpu");
    expect(harms).toEqual(["harmful"]);
    expect((await Promise.all(timeBombs)).map(({ kind }) => kind)).toEqual(Array(4).fill("interrupted"));
    gate.resolve("null");
    expect((await Promise.all(waiting)).map(({ kind }) => kind)).toEqual(Array(4).fill("ok"));
    const shared = pool.pids().length;
    expect(await resultOf(pool, "export default () => 2", { workspaceId: "harmful" })).toBe(2);
    // Perhaps two: on a busy machine the first may be up late.
    expect(pool.pids().length).toBeGreaterThan(shared);
  });
});
