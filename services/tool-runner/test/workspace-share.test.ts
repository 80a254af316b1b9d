import { Code } from "@connectrpc/connect";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "./tool-runner-rig.ts";

let runner: ToolRunnerRig;

beforeAll(async () => {
  // Whoever has used the first MiB waits for longer than anybody lives.
  runner = await startToolRunnerRig({ config: { workspaceBytesPerSecond: 1 } });
});
afterAll(() => runner?.[Symbol.asyncDispose]());

const EVENTS = 4;
const WAITS_MS = 60_000;

test("custom events beyond a workspace's share wait, and a call that gets no turn starts nothing and may be repeated", {
  timeout: 2 * WAITS_MS,
}, async () => {
  await runner.saveTool("emit", {
    external_api: true,
    timeout_ms: 5_000,
    handler: `const data = { text: "x".repeat(200_000) };
      export default async (_, ctx) => {
        for (let count = 0; count < ${EVENTS}; count += 1) await ctx.emitWebhook("large", data);
        return { success: true };
      };`,
  });
  const { outcome } = await runner.call({ tool: "emit" });
  expect(outcome.case).toBe("toolFailed");
  const { rows } = await runner.pool.query("select count(*)::integer as events from tool_runner.outbox");
  expect(rows[0].events).toBeLessThan(EVENTS);
  const executions = async () => (await runner.executions.listExecutions({})).executions;
  await eventually(async () => expect((await executions()).map(({ error }) => error)).toEqual([expect.any(String)]));

  const refused = runner.call({ tool: "emit", idempotencyKey: "later" });
  await expect(refused).rejects.toMatchObject({ code: Code.ResourceExhausted });
  expect((await executions()).length).toBe(1);
  const claims = await runner.pool.query("select count(*)::integer as calls from tool_runner.idempotent_calls");
  expect(claims.rows[0].calls).toBe(0);
});
