import { randomUUID } from "node:crypto";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

let toolgate: RunningToolgate;
beforeAll(async () => {
  toolgate = await runToolgate("split");
});
afterAll(() => toolgate[Symbol.asyncDispose]());

test("[TOOL] a call whose process was killed during its run never runs again under its Idempotency-Key", async () => {
  const { receiver, pool } = toolgate;
  await toolgate.saveTool("effect", {
    external_api: true,
    timeout_ms: 1_000,
    api: { method: "POST", url: `${receiver.url}/effect` },
  });
  const { secret } = await toolgate.createKey({ name: "k", tools: ["effect"], limit: 1_000 });
  const idempotencyKey = randomUUID();
  const call = () =>
    toolgate.request("/api/v1/tools/effect", {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "idempotency-key": idempotencyKey },
      body: "{}",
    });
  receiver.behave(() => ({ hang: "before-status" }));
  const cut = call();
  await receiver.waitFor(1);
  const runner = toolgate.processes().find(({ name }) => name.startsWith("tool-runner"));
  const pid = runner?.pid ?? 0;
  expect(pid).toBeGreaterThan(0);
  process.kill(pid, "SIGKILL");
  expect((await cut).status).toBe(500);

  receiver.behave(() => ({ status: 200 }));
  // Only a new process responds with 409: until it is up, calls get a 500.
  const refused = await eventually(async () => {
    const response = await call();
    return response.status === 409 && response;
  });
  expect(refused.body).toMatchObject({ success: false });
  await pool.query("update tool_runner.idempotent_calls set lease_until = now() where idempotency_key = $1", [
    idempotencyKey,
  ]);
  for (let repeat = 0; repeat < 3; repeat += 1) {
    const response = await call();
    expect(response.status).toBe(500);
    expect(response.headers.get("idempotency-replayed")).toBe("true");
  }
  expect(receiver.requests).toHaveLength(1);
});
