import { describe, expect, it } from "vitest";
import { handler, isAlive, openPool, resultOf, runSource, until } from "./sandbox-harness.ts";

describe("the child for slow workspaces", () => {
  it("[TOOL-2] a workspace whose code exceeded a limit runs in a child for such workspaces for a while", async () => {
    let clock = 0;
    await using pool = openPool(1, { slowMs: 1_000 }, { now: () => performance.now() + clock });
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
      await using pool = openPool(1, { largeInputBytes: 1_000, slowStepMs: Number.POSITIVE_INFINITY });
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
});
