import type { ReceivedRequest } from "@toolgate/testbed/behaviour";
import { eventually } from "@toolgate/testbed/eventually";
import { sign } from "@toolgate/webhook-signing/sign";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

const EMIT = "export default async ({ n }, ctx) => { await ctx.emitWebhook('below', { n }); return {}; };";
const TARGET = `export default async ({ n, _webhook }, ctx) => {
  await ctx.emitWebhook("direct", { n, webhook: _webhook });
  await ctx.callTool("below", { n });
  await ctx.callTool("emitWebhookEvent", { name: "shared", data: { n } });
  return { success: true, n, read_only: ctx.read_only };
};`;

interface Delivery {
  delivery: { id: string; status: string; error?: string };
  hookRuns: { number: number; status: string; result: string; error: string; argsJson: string }[];
}

let toolgate: RunningToolgate;
let hook: { url: string; secret: string; hook: { id: string } };
beforeAll(async () => {
  toolgate = await runToolgate("single");
  const parameters = { type: "object", properties: { n: { type: "integer" }, _webhook: { type: "string" } } };
  await toolgate.saveTool("below", { webhook_event: true, parameters, handler: EMIT });
  await toolgate.saveTool("target", {
    inbound_hook: true,
    inbound_hook_write: true,
    external_api: true,
    webhook_event: true,
    parameters,
    handler: TARGET,
  });
  await toolgate.createEndpoint(["tool.completed", "custom.*"]);
  const made = { name: "Orders", format: "HOOK_FORMAT_NATIVE", target: { tool: "target" } };
  hook = await toolgate.manage("inbound_hook.v1.HookService/CreateHook", made);
});
afterAll(() => toolgate?.[Symbol.asyncDispose]());

async function send(body: string, headers: Record<string, string> = {}) {
  const t = Math.floor(Date.now() / 1000);
  return toolgate.request(new URL(hook.url, "http://localhost").pathname, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", "x-service-signature": sign(hook.secret, t, body), ...headers },
  });
}

const deliveryOf = (deliveryId: string) =>
  toolgate.manage<Delivery>("inbound_hook.v1.HookDeliveryService/GetHookDelivery", { deliveryId });

async function ended(deliveryId: string, runs: number): Promise<Delivery> {
  return eventually(async () => {
    const found = await deliveryOf(deliveryId);
    const hasEnded = !/WAITING|RUNNING/.test(found.delivery.status);
    return hasEnded && found.hookRuns?.length === runs && found;
  });
}

/** The webhooks about call `n`, once there are as many as expected. */
async function eventsAbout(n: number, count: number) {
  const about = ({ body }: ReceivedRequest) => JSON.parse(body.toString()).data.n === n;
  await eventually(() => toolgate.receiver.requests.filter(about).length === count);
  return toolgate.receiver.requests.filter(about).map(({ headers, body }) => ({
    hop: headers["x-service-hop"],
    type: headers["x-service-event"],
    data: JSON.parse(body.toString()).data,
  }));
}

test.each([
  [1, {}],
  [2, { "x-service-hop": "1" }],
])("[LOOP-1] [LOOP-2] [IN-67] run %i of a hook, called with %j, sends its events with hop 2", async (n, headers) => {
  const response = await send(`{"n":${n},"_webhook":{"hook_id":"forged"}}`, {
    ...headers,
    "x-service-delivery": `d-${n}`,
  });
  expect(response.status).toBe(202);
  const deliveryId = String(response.body.delivery_id);
  const { delivery, hookRuns } = await ended(deliveryId, 1);
  expect(delivery.status).toBe("HOOK_DELIVERY_STATUS_SUCCEEDED");
  expect(JSON.parse(hookRuns[0]?.result ?? "")).toEqual({ success: true, n, read_only: false });
  expect(JSON.parse(hookRuns[0]?.argsJson ?? "")).toEqual({ n });
  const events = await eventsAbout(n, 3);
  expect(events.map(({ hop, type }) => `${type} ${hop}`).sort()).toEqual([
    "custom.below 2",
    "custom.direct 2",
    "custom.shared 2",
  ]);
  expect(events.find(({ type }) => type === "custom.direct")?.data.webhook).toEqual({
    hook_id: hook.hook.id,
    hook_name: "Orders",
    delivery_id: deliveryId,
    external_id: `d-${n}`,
    received_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
  });
});

test("[IN-13] [LOOP-2] a delivery that is processed again keeps hop 2", async () => {
  const deliveryId = String((await send('{"n":3}')).body.delivery_id);
  await ended(deliveryId, 1);
  await toolgate.manage("inbound_hook.v1.HookDeliveryService/ReprocessHookDelivery", { deliveryId });
  await ended(deliveryId, 2);
  const events = await eventsAbout(3, 6);
  expect(new Set(events.map(({ hop }) => hop))).toEqual(new Set(["2"]));
});

test("[LOOP-1] no hook run has reported tool.completed", async () => {
  await toolgate.saveTool("by_key", {
    external_api: true,
    webhook_event: true,
    handler: "export default () => ({});",
  });
  const key = await toolgate.createKey({ name: "k", tools: ["by_key"] });
  await toolgate.call("by_key", key.secret);
  const completed = () =>
    toolgate.receiver.requests
      .filter(({ headers }) => headers["x-service-event"] === "tool.completed")
      .map(({ headers, body }) => `${JSON.parse(body.toString()).data.tool} ${headers["x-service-hop"]}`);
  await eventually(() => completed().length > 0);
  expect(completed()).toEqual(["by_key 1"]);
});
