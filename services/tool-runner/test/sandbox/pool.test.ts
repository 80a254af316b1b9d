import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SandboxOutcome } from "../../src/sandbox/request.ts";
import { compiled, isAlive, openPool, resultOf, runSource, startNeighbours, until } from "./sandbox-harness.ts";

const handler = (body: string) => `export default async (args, ctx) => { ${body} }`;
const isInterrupted = ({ kind }: SandboxOutcome) => kind === "interrupted";

describe("sandbox pool", () => {
  it("[RO-1] the context has the run's read_only and test_mode, and args cannot change them", async () => {
    await using pool = openPool(1);
    const source = handler("return { r: ctx.read_only, t: ctx.test_mode, args }");
    const args = { read_only: false, ctx: { read_only: false } };
    for (const [readOnly, testMode] of [
      [true, false],
      [false, true],
    ] as const) {
      const context = { readOnly, testMode };
      expect(await resultOf(pool, source, { codeKey: "k", args, context })).toEqual({ r: readOnly, t: testMode, args });
    }
  });

  it("[RO-2] every host function reaches the host with its name and arguments, and the sandbox decides nothing", async () => {
    await using pool = openPool(1);
    const calls: string[] = [];
    const source = handler(`
      ctx.read_only = false; const out = [];
      for (const name of ['callTool', 'executePreparedQuery', 'executeQuery', 'readSheet', 'writeToSheet', 'clearFromSheet', 'emitWebhook', 'sendMail', 'fetch'])
        out.push(await ctx[name]('x', { name }).catch((error) => error.message));
      return out`);
    const onHostCall = async (name: string, argsJson: string) => {
      calls.push(`${name} ${argsJson}`);
      if (name === "executeQuery") throw new Error("refused");
      return JSON.stringify(name);
    };
    const names =
      "callTool executePreparedQuery executeQuery readSheet writeToSheet clearFromSheet emitWebhook sendMail fetch";
    const results = names.split(" ").map((name) => (name === "executeQuery" ? "refused" : name));
    expect(await resultOf(pool, source, { onHostCall })).toEqual(results);
    expect(calls).toEqual(names.split(" ").map((name) => `${name} ["x",{"name":"${name}"}]`));
  });

  it("[TOOL-2] many runs of many tools interleave, and each gets its own result", async () => {
    await using pool = openPool(2);
    const source = handler("const [, n] = await ctx.callTool('plus', args.n); await 0; return { n: n + 1 }");
    const total = 2_000;
    const results = await Promise.all(
      Array.from({ length: total }, (_, n) => resultOf(pool, source, { codeKey: `tool-${n % 20}`, args: { n } })),
    );
    expect(results).toEqual(Array.from({ length: total }, (_, n) => ({ n: n + 1 })));
  });

  it("[TOOL-2] the bound on active runs stops endless recursion of nested calls", async () => {
    await using pool = openPool(2, { activeRuns: 400 });
    const source = handler("return await ctx.callTool('self')");
    let depth = 0;
    const onHostCall = async (): Promise<string> => {
      depth += 1;
      const outcome = await runSource(pool, source, { onHostCall });
      if (outcome.kind !== "ok") throw new Error(outcome.message);
      return outcome.resultJson;
    };
    const outcome = await runSource(pool, source, { onHostCall });
    expect(outcome).toMatchObject({
      kind: "threw",
      message: "The workspace has used up its share of the 400 concurrent runs",
    });
    expect(depth).toBe(200);
    expect(await resultOf(pool, handler("return 1"))).toBe(1);
  });

  it("[TOOL-2] killing a child interrupts only the runs that had called the host", async () => {
    await using pool = openPool(2);
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

  it("[TOOL-2] runs that a killed child had not begun, or that had no effects, succeed in another child", async () => {
    await using pool = openPool(1);
    await resultOf(pool, handler("return 1"));
    const quick = handler("return { n: args.n }");
    const hanging = runSource(pool, handler("new Array(1e9).fill(0)"), { limits: { cpuMs: 200 } });
    const behind = Array.from({ length: 50 }, (_, n) =>
      resultOf(pool, quick, { codeKey: `quick-${n % 5}`, args: { n } }),
    );
    expect(await Promise.all(behind)).toEqual(Array.from({ length: 50 }, (_, n) => ({ n })));
    expect(["cpu", "memory"]).toContain((await hanging).kind);
  });

  it("[TOOL-2] runs that a killed child had not begun move to another child, and its current run is interrupted", async () => {
    await using pool = openPool(1, { stallMs: 60_000 });
    await resultOf(pool, handler("return 1"));
    const [pid = 0] = pool.pids();
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
    await using pool = openPool(2, { slowMs: 1, apartMs: 1 });
    const begun = new Map<string, number>();
    const source = handler("await ctx.callTool(args.id); return args.id");
    const onHostCall = async (_name: string, argsJson: string) => {
      begun.set(argsJson, (begun.get(argsJson) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 2));
      return "null";
    };
    let killed = 0;
    const work = Array.from({ length: 1_000 }, (_, id) =>
      runSource(pool, source, { codeKey: `t${id % 7}`, args: { id }, onHostCall }),
    );
    const killer = (async () => {
      for (const share of [0.1, 0.3, 0.5]) {
        await until("some progress", () => begun.size >= share * work.length);
        const pid = pool.pids()[killed % 2];
        if (pid !== undefined) process.kill(pid, "SIGKILL");
        killed += 1;
      }
    })();
    const outcomes = await Promise.all(work);
    await killer;
    expect(outcomes.every(({ kind }) => kind === "ok" || kind === "interrupted")).toBe(true);
    expect([...begun.values()].every((times) => times === 1)).toBe(true);
    expect(outcomes.filter(({ kind }) => kind === "ok").length).toBeGreaterThan(0);
  });

  it("[TOOL-2] runs that wait behind a busy child move to another, and each runs exactly once", async () => {
    await using pool = openPool(2, { stallMs: 30 });
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

  it("[TOOL-2] the signal of a request ends its run and its host calls", async () => {
    await using pool = openPool(1);
    const leave = new AbortController();
    let hostSignal: AbortSignal | undefined;
    const onHostCall = (_name: string, _args: string, signal: AbortSignal) => {
      hostSignal = signal;
      return new Promise<string>(() => {});
    };
    const outcome = runSource(pool, handler("await ctx.fetch('x')"), { onHostCall, signal: leave.signal });
    await until("the call reaches the host", () => hostSignal !== undefined);
    leave.abort();
    expect((await outcome).kind).toBe("cancelled");
    expect(hostSignal?.aborted).toBe(true);
  });

  it("[TOOL-2] arguments, results and log lines are bounded", async () => {
    await using pool = openPool(1, { hostCallBytes: 1_000, hostResultBytes: 1_000, logLinesPerRun: 3 });
    const source = handler(`
      for (let n = 0; n < 10; n++) ctx.log('line', n, 'y'.repeat(3000));
      const tries = [];
      for (const arg of ['x'.repeat(2000), 'ü'.repeat(700), 'big']) tries.push(await ctx.callTool(arg).catch((e) => e.message));
      return tries`);
    const outcome = await runSource(pool, source, { onHostCall: async () => JSON.stringify("z".repeat(2_000)) });
    const args = "The arguments of callTool are too large";
    expect(outcome).toMatchObject({
      kind: "ok",
      resultJson: JSON.stringify([args, args, "The result of callTool is too large"]),
    });
    expect(outcome.logs.map((line) => line.length)).toEqual([1_000, 1_000, 1_000]);
  });

  it("[TOOL-2] code that the engine cannot compile ends the run with the reason", async () => {
    await using pool = openPool(1);
    expect(await runSource(pool, handler("return 1"), { code: "(function( {" })).toMatchObject({
      kind: "threw",
      message: expect.stringContaining("SyntaxError"),
    });
  });

  it.runIf(process.platform === "linux")(
    "[TOOL-2] a child has no environment, and no open file except its progress file",
    async () => {
      await using pool = openPool(1);
      await resultOf(pool, handler("return 1"));
      for (const pid of pool.pids()) {
        expect(readFileSync(`/proc/${pid}/environ`, "utf8")).toBe("");
        const opened = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
        const files = opened.filter((target) => !/^(socket|pipe|anon_inode):|^\/dev\/null$/u.test(target));
        expect(files).toEqual([expect.stringMatching(/toolgate-progress-.* \(deleted\)$/u)]);
        expect(readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")).toContain("--permission");
      }
    },
  );

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

  it("[TOOL-2] a workspace whose code exceeded a limit runs in a child for such workspaces for a while", async () => {
    let clock = 0;
    await using pool = openPool(1, { slowMs: 1_000 }, () => performance.now() + clock);
    const source = handler("if (args.loop) for (;;) {} return 1");
    const one = () => resultOf(pool, source);
    await one();
    const ordinary = pool.pids();
    expect((await runSource(pool, source, { args: { loop: true } })).kind).toBe("cpu");
    await one();
    await until("a child for slow workspaces", () => pool.pids().length === ordinary.length + 1);
    const [stopped = 0] = ordinary;
    process.kill(stopped, "SIGSTOP");
    expect(await one()).toBe(1);
    clock = 2_000;
    // The watchdog may have killed it meanwhile.
    if (isAlive(stopped)) process.kill(stopped, "SIGCONT");
    expect(await one()).toBe(1);
  });

  it.each([
    ["arguments", true],
    ["a result of a host call", false],
  ])(
    "[TOOL-2] a workspace whose code got %s of a large size runs in another child than the others for a while",
    async (_, inArguments) => {
      await using pool = openPool(1, { largeInputBytes: 1_000 });
      const getsText = (characters: number) => {
        const text = "x".repeat(characters);
        const onHostCall = async () => JSON.stringify(inArguments ? "" : text);
        return resultOf(pool, handler("await ctx.readSheet(); return 1"), {
          onHostCall,
          args: inArguments ? text : "",
        });
      };
      await getsText(900);
      await getsText(900);
      const ordinary = pool.pids();
      await getsText(1_000);
      await resultOf(pool, handler("return 1"), { workspaceId: "other" });
      await getsText(0);
      expect(pool.pids()).toHaveLength(ordinary.length + 1);
      expect(pool.pids()).toEqual(expect.arrayContaining(ordinary));
    },
  );

  it("[TOOL-2] more tools than a child keeps warm still run, one after another and all together", async () => {
    await using pool = openPool(1);
    const total = 150;
    const all = () => Promise.all(Array.from({ length: total }, (_, n) => resultOf(pool, `export default () => ${n}`)));
    const expected = Array.from({ length: total }, (_, n) => n);
    expect(await all()).toEqual(expected);
    expect(await all()).toEqual(expected);
  });

  it("[TOOL-2] closing the pool ends the runs under way and leaves no process behind", async () => {
    const pool = openPool(2);
    await resultOf(pool, handler("return 1"));
    const pids = pool.pids();
    const waiting = runSource(pool, handler("await new Promise(() => {})"));
    await pool[Symbol.asyncDispose]();
    expect((await waiting).kind).toBe("interrupted");
    expect((await runSource(pool, handler("return 1"))).kind).toBe("interrupted");
    expect(pids.length).toBe(3);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(compiled(handler("return 1"))).toContain("return 1");
  });
});
