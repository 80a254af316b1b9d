import { randomUUID } from "node:crypto";
import { provision } from "@toolgate/key-auth/operator/provision";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningToolgate, runToolgate, type TopologyKind } from "../running-toolgate.ts";

/** So slow that a workspace waits for much longer than any of these tests. */
const BYTES_PER_SECOND = "65536";
/** More than a workspace can have at once, of which nothing is known yet. */
const CALLS = 40;
const LARGE = `const large = "x".repeat(1_000_000);
export default () => ({ success: true, large });`;
const EMITTING = `const data = { text: "x".repeat(240_000) };
export default async (_, ctx) => {
  for (let count = 0; count < 5; count += 1) await ctx.emitWebhook("large", data);
  return { success: true };
};`;
const PLAIN = "export default () => ({ success: true });";

describe.each<TopologyKind>(["single", "split"])("in the %s topology", (kind) => {
  let toolgate: RunningToolgate;
  const stopping = new AbortController();

  beforeAll(async () => {
    toolgate = await runToolgate(kind, { env: { WORKSPACE_BYTES_PER_SECOND: BYTES_PER_SECOND } });
  });
  afterAll(async () => {
    stopping.abort();
    await toolgate?.[Symbol.asyncDispose]();
  });

  /** A workspace with one released tool and a key; returns how to call it. */
  async function workspaceWith(handler: string, timeoutMs = 30_000) {
    const workspace = `w-${randomUUID().slice(0, 8)}`;
    const { email, password } = toolgate.account;
    await provision(toolgate.pool, { workspace, email, password, role: "admin" });
    const own = <T>(rpc: string, request: object) => toolgate.manage<T>(rpc, { workspace, ...request });
    const definition = { description: "A tool", external_api: true, external_api_write: true, handler };
    await own("tool_runner.v1.ToolService/SaveTool", {
      name: "tool",
      definition: { ...definition, timeout_ms: timeoutMs },
      confirmExposure: true,
    });
    const { secret } = await own<{ secret: string }>("key_auth.v1.KeyService/CreateKey", {
      name: "Key",
      tools: ["tool"],
      limit: 1_000,
    });
    const call = async () => {
      const response = await fetch(`${toolgate.baseUrl}/api/v1/tools/tool`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}` },
        body: "{}",
        signal: stopping.signal,
      });
      await response.arrayBuffer();
      return response.status;
    };
    return { call, own, secret };
  }

  test("a workspace that has received more than its share waits, and another one is served meanwhile", async () => {
    const noisy = await workspaceWith(LARGE);
    const quiet = await workspaceWith(PLAIN);
    const served: number[] = [];
    for (let count = 0; count < CALLS; count += 1)
      noisy.call().then(
        (status) => served.push(status),
        () => {},
      );
    await eventually(() => served.length > 0);
    for (let count = 0; count < 20; count += 1) expect(await quiet.call()).toBe(200);
    expect(served.length).toBeLessThan(CALLS);
  });

  test("a run emits no more bytes of events than its workspace's share allows", async () => {
    const noisy = await workspaceWith(EMITTING, 5_000);
    expect(await noisy.call()).toBe(400);
    const { own } = noisy;
    await eventually(async () => {
      const { executions = [] } = await own<{ executions?: { error: string; hostCalls: object[] }[] }>(
        "tool_runner.v1.ExecutionService/ListExecutions",
        {},
      );
      expect(executions.length).toBe(1);
      expect(executions[0]?.error).toBe("The run took too long");
      expect(executions[0]?.hostCalls.length).toBeLessThan(5);
    });
  });
});
