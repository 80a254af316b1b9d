import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CallerRig, HOOK, startCallerRig } from "./callers/caller-rig.ts";

/** More than fit into the CPU time that a workspace may waste. */
const MAX_CALLS = 20;
/** On a slow machine, code that was held back once might otherwise run again before it is asked for the next time. */
const NEVER_FORGOTTEN = { wastedHalfLifeMs: Number.POSITIVE_INFINITY };

let rig: CallerRig;
beforeAll(async () => {
  rig = await startCallerRig({ sandboxLimits: NEVER_FORGOTTEN });
  const released = { external_api: true, inbound_hook: true };
  await rig.runner.saveTool("loop", { ...released, handler: "export default () => { for (;;); };" });
  await rig.runner.saveTool("outer", {
    ...released,
    parameters: { type: "object", properties: { tool: { type: "string" } } },
    handler:
      "export default async ({ tool }, ctx) => { try { return await ctx.callTool(tool, {}); } catch ({ code }) { return { code }; } };",
  });
  await rig.runner.saveTool("plain", { ...released, handler: "export default () => ({ ok: true });" });
});
afterAll(() => rig.runner[Symbol.asyncDispose]());

test("[FAIR-4] a tool that keeps exceeding its limits is held back: its callers get a 429, hooks run it later, and other tools of its workspace work", async () => {
  const { runner } = rig;
  // Otherwise they are new code, of which nothing better is known than of the third.
  expect(await runner.resultOf({ tool: "outer", args: { tool: "plain" } })).toEqual({ ok: true });
  const ends: string[] = [];
  while (ends.at(-1) !== Code[Code.ResourceExhausted] && ends.length < MAX_CALLS) {
    const end = await runner.call({ tool: "loop" }).then(
      ({ outcome }) => String(outcome.case),
      (error) => Code[ConnectError.from(error).code] ?? "",
    );
    ends.push(end);
  }
  expect(ends.at(-1)).toBe("ResourceExhausted");
  expect(new Set(ends.slice(0, -1))).toEqual(new Set(["toolFailed"]));
  expect(await runner.resultOf({ tool: "plain" })).toEqual({ ok: true });
  const message = expect.stringContaining("exceeded their limits too often lately");
  await expect(rig.run(HOOK, "loop")).rejects.toMatchObject({ code: Code.Aborted, message });
  expect(await runner.resultOf({ tool: "outer", args: { tool: "loop" } })).toEqual({ code: "HELD_BACK" });
  expect(await rig.resultOf(HOOK, "plain")).toEqual({ ok: true });
});
