import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { handler, openPool, resultOf, runSource, until } from "./sandbox-harness.ts";

describe("sandbox pool", () => {
  it("[RO-1] the context has the run's read_only and test_mode, and args cannot change them", async () => {
    await using pool = openPool();
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
    await using pool = openPool();
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
    await using pool = openPool();
    const source = handler("const [, n] = await ctx.callTool('plus', args.n); await 0; return { n: n + 1 }");
    const total = 2_000;
    const results = await Promise.all(
      Array.from({ length: total }, (_, n) => resultOf(pool, source, { codeKey: `tool-${n % 20}`, args: { n } })),
    );
    expect(results).toEqual(Array.from({ length: total }, (_, n) => ({ n: n + 1 })));
  });

  it("[TOOL-2] the bound on active runs stops endless recursion of nested calls", async () => {
    await using pool = openPool({ activeRuns: 400 });
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

  it("[TOOL-2] the signal of a request ends its run and its host calls", async () => {
    await using pool = openPool();
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
    await using pool = openPool({ hostCallBytes: 1_000, hostResultBytes: 1_000, logLinesPerRun: 3 });
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
    await using pool = openPool();
    expect(await runSource(pool, handler("return 1"), { code: "(function( {" })).toMatchObject({
      kind: "threw",
      message: expect.stringContaining("SyntaxError"),
    });
  });

  it.runIf(process.platform === "linux")(
    "[TOOL-2] a child has no environment, and no open file but its root",
    async () => {
      await using pool = openPool();
      await resultOf(pool, handler("return 1"));
      for (const pid of pool.pids("workspace")) {
        const opened = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
        // libuv keeps /dev/null open, or the root where that is missing, which the layer `files` mounts there.
        const files = opened.filter((target) => !/^(socket|pipe|anon_inode):|^\/(dev\/null|mnt|sys)$/u.test(target));
        expect(files).toEqual([]);
        expect(readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")).toContain("--permission");
      }
    },
  );

  it("[TOOL-2] more tools than a child keeps warm still run, one after another and all together", async () => {
    await using pool = openPool();
    const total = 150;
    const all = () => Promise.all(Array.from({ length: total }, (_, n) => resultOf(pool, `export default () => ${n}`)));
    const expected = Array.from({ length: total }, (_, n) => n);
    expect(await all()).toEqual(expected);
    expect(await all()).toEqual(expected);
  });
});
