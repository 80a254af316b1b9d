import { randomUUID } from "node:crypto";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

const RANDOM = {
  external_api: true,
  parameters: { type: "object", properties: { text: { type: "string", maxLength: 20 } } },
  handler: "export default async (args) => ({ success: true, value: Math.random(), text: args.text });",
};

let toolgate: RunningToolgate;
beforeAll(async () => {
  // Its own, because a test kills processes.
  toolgate = await runToolgate("split", { replicas: { "tool-runner": 2 } });
  await toolgate.saveTool("random", RANDOM);
});
afterAll(() => toolgate[Symbol.asyncDispose]());

const call = (tool: string, secret: string, key: string | undefined, body = '{"args":{}}') =>
  toolgate.request(`/api/v1/tools/${tool}`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, ...(key !== undefined && { "idempotency-key": key }) },
    body,
  });

test("[LIMIT] [LOG-2] [LOG-5] the same key and body get the first response again, marked, and every call counts and is logged", async () => {
  const { id, secret } = await toolgate.createKey({ name: "k", tools: ["random"], limit: 100 });
  const first = await call("random", secret, "a-1");
  expect(first.status).toBe(200);
  expect(first.headers.get("idempotency-replayed")).toBeNull();
  for (let repeat = 0; repeat < 2; repeat += 1) {
    const again = await call("random", secret, "a-1");
    expect(again).toMatchObject({ status: 200, text: first.text });
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.headers.get("x-ratelimit-limit")).toBe("100");
  }
  expect((await call("random", secret, "a-2")).text).not.toBe(first.text);
  expect((await call("random", secret, undefined)).text).not.toBe(first.text);
  const mismatch = await call("random", secret, "a-1", '{"args":{"text":"x"}}');
  expect(mismatch).toMatchObject({
    status: 422,
    text: '{"success":false,"error":"Idempotency-Key gehoert zu einem anderen Aufruf"}',
  });
  expect(mismatch.headers.get("idempotency-replayed")).toBeNull();
  await eventually(async () => {
    const { rows } = await toolgate.pool.query(
      "select count(*)::int as runs from tool_runner.executions where caller_id = $1",
      [id],
    );
    expect(rows).toEqual([{ runs: 3 }]);
    const { calls = [] } = await toolgate.manage<{ calls?: { status: number }[] }>(
      "key_auth.v1.KeyService/ListKeyCalls",
      { keyId: id },
    );
    expect(calls.map(({ status }) => status)).toEqual([422, 200, 200, 200, 200, 200]);
  });
});

test("[ERR-1] [ERR-2] a key must be 1 to 255 visible characters, or an available tool reports a violation", async () => {
  const { secret } = await toolgate.createKey({ name: "k", tools: ["random"] });
  for (const key of ["", "with space", "x".repeat(256)]) {
    const response = await call("random", secret, key);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({
      success: false,
      error: "Ungueltige Parameter",
      details: [{ field: "Idempotency-Key", rule: "header" }],
    });
    expect((await call("nowhere", secret, key)).status).toBe(403);
  }
  expect((await call("random", secret, `!"#~${"y".repeat(251)}`)).status).toBe(200);
});

test("[TOOL] [LIMIT-9] a call whose process was killed during its run never runs again under its Idempotency-Key", async () => {
  const { receiver, pool } = toolgate;
  await toolgate.saveTool("effect", {
    external_api: true,
    api: { method: "POST", url: `${receiver.url}/effect` },
  });
  const { secret } = await toolgate.createKey({ name: "k", tools: ["effect"], limit: 1_000 });
  const idempotencyKey = randomUUID();
  const again = () => toolgate.call("effect", secret, {}, { headers: { "idempotency-key": idempotencyKey } });
  receiver.behave(() => ({ hang: "before-status" }));
  const cut = again();
  await receiver.waitFor(1);
  for (const { name, pid } of toolgate.processes()) if (name === "tool-runner") process.kill(pid, "SIGKILL");
  expect((await cut).status).toBe(500);

  receiver.behave(() => ({ status: 200 }));
  // Only a new process responds with 409: until it is up, calls get a 500.
  const refused = await eventually(async () => {
    const response = await again();
    return response.status === 409 && response;
  });
  expect(refused.text).toBe('{"success":false,"error":"Aufruf mit diesem Idempotency-Key laeuft noch"}');
  expect(refused.headers.get("retry-after")).toBeNull();
  await pool.query("update tool_runner.idempotent_calls set lease_until = now() where idempotency_key = $1", [
    idempotencyKey,
  ]);
  for (let repeat = 0; repeat < 3; repeat += 1) {
    const response = await again();
    expect(response.status).toBe(500);
    expect(response.headers.get("idempotency-replayed")).toBe("true");
  }
  expect(receiver.requests).toHaveLength(1);
});
