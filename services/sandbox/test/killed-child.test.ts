import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SandboxOutcome } from "../src/request.ts";
import { handler, isAlive, openPool, resultOf, runSource, startNeighbours, until } from "./sandbox-harness.ts";

const isInterrupted = ({ kind }: SandboxOutcome) => kind === "interrupted";

describe("sandbox children that are killed", () => {
  it("[TOOL-2] killing a child interrupts only the runs that had called the host", async () => {
    await using pool = openPool();
    const neighbours = startNeighbours(pool);
    await until("neighbours at work", () => neighbours.runs() >= 20);
    let reached = 0;
    const source = handler("await ctx.callTool('hold'); return 1");
    const onHostCall = () => {
      reached += 1;
      return new Promise<string>(() => {});
    };
    const held = [1, 2, 3, 4].map((n) => runSource(pool, source, { codeKey: `held-${n}`, onHostCall }));
    await until("the held runs reach the host", () => reached === 4);
    const before = pool.pids();
    for (const pid of before) process.kill(pid, "SIGKILL");
    const outcomes = await Promise.all(held);
    expect(outcomes.every(isInterrupted)).toBe(true);
    expect(reached).toBe(4);
    const at = neighbours.runs();
    await until("neighbours continue in new children", () => neighbours.runs() >= at + 20);
    const { failures } = await neighbours.stop();
    expect(failures.every(isInterrupted)).toBe(true);
    expect(failures.length).toBeLessThanOrEqual(4);
    expect(pool.pids().some((pid) => before.includes(pid))).toBe(false);
  });

  it("[TOOL-2] runs that a killed child had not begun move to another child, and its current run is interrupted", async () => {
    await using pool = openPool({ stallMs: 60_000 });
    await resultOf(pool, handler("return 1"));
    const [pid = 0] = pool.pids("workspace");
    let reached = false;
    const onHostCall = async () => {
      reached = true;
      return "null";
    };
    const source = handler("await ctx.callTool('x'); for (;;) {}");
    // It must not end by itself before it is killed, however busy the machine is.
    const looping = runSource(pool, source, { onHostCall, limits: { cpuMs: 300_000, wallMs: 300_000 } });
    await until("the first run loops", () => reached);
    const behind = Array.from({ length: 20 }, (_, n) => resultOf(pool, handler("return args.n"), { args: { n } }));
    await new Promise((resolve) => setImmediate(resolve));
    process.kill(pid, "SIGKILL");
    expect((await looping).kind).toBe("interrupted");
    expect(await Promise.all(behind)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });

  it("[TOOL-2] a run that has called the host is never begun again", async () => {
    await using pool = openPool();
    const begun = new Map<string, number>();
    const source = handler("await ctx.callTool(args.id); return args.id");
    const onHostCall = async (_name: string, argsJson: string) => {
      begun.set(argsJson, (begun.get(argsJson) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 2));
      return "null";
    };
    const work = Array.from({ length: 1_000 }, (_, id) =>
      runSource(pool, source, { codeKey: `t${id % 7}`, args: { id }, onHostCall }),
    );
    const killer = (async () => {
      for (const share of [0.1, 0.3, 0.5]) {
        await until("some progress", () => begun.size >= share * work.length);
        const [pid] = pool.pids("workspace");
        if (pid !== undefined) process.kill(pid, "SIGKILL");
      }
    })();
    const outcomes = await Promise.all(work);
    await killer;
    expect(outcomes.every(({ kind }) => kind === "ok" || kind === "interrupted")).toBe(true);
    expect([...begun.values()].every((times) => times === 1)).toBe(true);
    expect(outcomes.filter(({ kind }) => kind === "ok").length).toBeGreaterThan(0);
  });

  it("[TOOL-2] runs that wait behind a busy child move to another, and each runs exactly once", async () => {
    await using pool = openPool({ stallMs: 30 });
    await resultOf(pool, handler("return 1"));
    const calls = new Map<string, number>();
    const onHostCall = async (_name: string, argsJson: string) => {
      calls.set(argsJson, (calls.get(argsJson) ?? 0) + 1);
      return "null";
    };
    const slow = handler("const end = Date.now() + 60; while (Date.now() < end); return 'slow'");
    const quick = handler("await ctx.callTool(args.n); return args.n");
    const work: Promise<unknown>[] = [];
    for (let n = 0; n < 200; n += 1) {
      if (n % 20 === 0) work.push(resultOf(pool, slow, { limits: { cpuMs: 5_000 } }));
      work.push(resultOf(pool, quick, { codeKey: `q${n % 9}`, args: { n }, onHostCall }));
    }
    await Promise.all(work);
    expect(calls.size).toBe(200);
    expect([...calls.values()].every((times) => times === 1)).toBe(true);
  });

  it("[TOOL-2] the children end when the process that owns them is killed", async () => {
    const owner = spawn(process.execPath, [join(import.meta.dirname, "pool-owner.ts")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(owner.stdout, "data")) as [Buffer];
    const pids = JSON.parse(line.toString()) as number[];
    expect(pids.map(isAlive)).toEqual([true, true, true]);
    owner.kill("SIGKILL");
    await until("all children gone", () => !pids.some(isAlive));
  });

  it("[TOOL-2] closing the pool ends the runs under way and leaves no process behind", async () => {
    const pool = openPool();
    await resultOf(pool, handler("return 1"));
    const pids = pool.pids();
    const waiting = runSource(pool, handler("await new Promise(() => {})"));
    await pool[Symbol.asyncDispose]();
    expect((await waiting).kind).toBe("interrupted");
    expect((await runSource(pool, handler("return 1"))).kind).toBe("interrupted");
    expect(pids.length).toBe(3);
    expect(pids.filter(isAlive)).toEqual([]);
  });
});
