import { afterAll, beforeAll, expect, test } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "./tool-runner-rig.ts";

/** Few enough to be parsed within a run's second of CPU time, even on a busy machine. */
const CALLS = 50;
const CHARS = 170_000;
const DEADLINE_MS = 60_000;

let runner: ToolRunnerRig;
beforeAll(async () => {
  runner = await startToolRunnerRig();
  const timeout_ms = 50_000;
  await runner.saveTool("quick", { external_api: true, timeout_ms, handler: "export default () => ({ ok: true });" });
  await runner.saveTool("big", {
    handler: `export default async (_, ctx) => {
      await ctx.fetch("${runner.receiver.url}/big");
      return { text: "\\u0001".repeat(${CHARS}) };
    };`,
  });
  await runner.saveTool("fan", {
    external_api: true,
    timeout_ms,
    handler: `export default async (_, ctx) => {
      const calls = Array.from({ length: ${CALLS} }, () => ctx.callTool("big", {}).then(({ text }) => text.length));
      return { chars: (await Promise.all(calls)).reduce((sum, length) => sum + length, 0) };
    };`,
  });
});
afterAll(() => runner[Symbol.asyncDispose]());

test(
  "[TOOL-2] a run that fetches many large results gets only a few of them between two calls of another run",
  async () => {
    await runner.resultOf({ tool: "quick" });
    let underWay = true;
    const heavy = runner.resultOf({ tool: "fan" }).finally(() => {
      underWay = false;
    });
    const completed = () => runner.receiver.requests.length;
    let most = 0;
    while (underWay) {
      const before = completed();
      await runner.resultOf({ tool: "quick" });
      most = Math.max(most, completed() - before);
    }
    expect(await heavy).toEqual({ chars: CALLS * CHARS });
    expect(completed()).toBe(CALLS);
    expect(most).toBeLessThan(CALLS / 2);
  },
  DEADLINE_MS,
);
