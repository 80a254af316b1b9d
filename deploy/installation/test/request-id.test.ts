import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sendRaw } from "./bad-input/raw-http.ts";
import { type CallResponse, type RunningToolgate, runToolgate } from "./running-toolgate.ts";

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const INNER = {
  handler: `export default async (args, ctx) => {
    await ctx.emitWebhook("order.added", {});
    return { success: true };
  };`,
};
const OUTER = {
  external_api: true,
  external_api_write: true,
  webhook_event: true,
  handler: `export default async (args, ctx) => {
    await ctx.callTool("inner", {});
    if (args.fail) throw new Error("failed on purpose");
    return { success: true };
  };`,
  parameters: { type: "object", properties: { fail: { type: "boolean" } } },
};

const idOf = (response: CallResponse) => {
  const id = response.headers.get("x-request-id") ?? "";
  expect(id).toMatch(REQUEST_ID);
  return id;
};

let toolgate: RunningToolgate;
let key: { id: string; secret: string };
beforeAll(async () => {
  toolgate = await runToolgate("split");
  await toolgate.saveTool("inner", INNER);
  await toolgate.saveTool("outer", OUTER);
  await toolgate.createEndpoint(["custom.*", "tool.completed"]);
  key = await toolgate.createKey({ name: "k", tools: ["outer"] });
});
afterAll(() => toolgate[Symbol.asyncDispose]());

const found = <T>(rpc: string, request: Record<string, unknown>, member: string, count: number) =>
  eventually(async () => {
    const { [member]: rows = [] } = await toolgate.manage<Record<string, T[]>>(rpc, request);
    return rows.length >= count && rows;
  });

test("one id leads from a response to the call, its runs and its deliveries", async () => {
  const failed = await toolgate.call("outer", key.secret, { fail: true });
  const requestId = idOf(failed);
  const other = idOf(await toolgate.call("outer", key.secret));
  expect(other).not.toBe(requestId);

  const ofKey = { keyId: key.id, requestId };
  const calls = await found<object>("key_auth.v1.KeyService/ListKeyCalls", ofKey, "calls", 1);
  expect(calls).toMatchObject([{ requestId, tool: "outer", status: failed.status }]);
  const runs = await found<{ tool: string; requestId: string }>(
    "tool_runner.v1.ExecutionService/ListExecutions",
    { requestId },
    "executions",
    2,
  );
  expect(runs.map((run) => [run.tool, run.requestId]).sort()).toEqual([
    ["inner", requestId],
    ["outer", requestId],
  ]);
  const deliveries = await found<{ id: string; eventType: string; requestId: string }>(
    "outbound_webhook.v1.DeliveryService/ListDeliveries",
    { requestId },
    "deliveries",
    2,
  );
  expect(deliveries.map((delivery) => [delivery.eventType, delivery.requestId]).sort()).toEqual([
    ["custom.order.added", requestId],
    ["tool.completed", requestId],
  ]);
  const [{ id: deliveryId } = { id: "" }] = deliveries;
  const shown = await toolgate.manage<{ delivery: object }>("outbound_webhook.v1.DeliveryService/GetDelivery", {
    deliveryId,
  });
  expect(shown.delivery).toMatchObject({ requestId });
  const bodies = await eventually(() => {
    const { requests } = toolgate.receiver;
    return requests.length >= 4 && requests.map(({ body }) => body.toString());
  });
  expect(bodies.join("")).not.toContain(requestId);
});

test("every response has an id, whatever its status", async () => {
  const auth = { authorization: `Bearer ${key.secret}` };
  const json = { ...auth, "content-type": "application/json", accept: "application/json, text/event-stream" };
  const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const responses = await Promise.all([
    toolgate.request("/no/such/path"),
    toolgate.request("/api/v1/tools/outer", { method: "POST" }),
    toolgate.request("/api/v1/tools/outer", { method: "POST", headers: json, body: "{" }),
    toolgate.request("/api/v1/tools/outer", { method: "DELETE", headers: auth }),
    toolgate.request("/api/v1/openapi.json", { headers: auth }),
    toolgate.request("/mcp", { method: "POST", headers: json, body: list }),
    toolgate.request("/mcp", { method: "POST", headers: json, body: "{" }),
    toolgate.request("/webhooks/event-types"),
    toolgate.request("/auth/login", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }),
    toolgate.request("/toolgate.key_auth.v1.KeyService/ListKeys", { method: "POST", headers: json, body: "{}" }),
    toolgate.request("/toolgate.key_auth.v1.KeyService/ListKeys"),
  ]);
  const ids = responses.map(idOf);
  expect(new Set(ids).size).toBe(responses.length);
  const unparsable = await sendRaw(toolgate.baseUrl, { method: "N O", target: "/" });
  expect(unparsable?.headers.find(([name]) => name.toLowerCase() === "x-request-id")?.[1]).toMatch(REQUEST_ID);
});
