import { createHmac } from "node:crypto";
import type { ReceivedRequest } from "@toolgate/testbed/behaviour";
import { eventually } from "@toolgate/testbed/eventually";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningToolgate, runToolgate, type TopologyKind } from "../running-toolgate.ts";

const REPORTED = {
  external_api: true,
  webhook_event: true,
  parameters: { type: "object", properties: { text: { type: "string" }, password: { type: "string" } } },
  handler: "export default async (args) => ({ success: true, token: 'abc', _internal: 1, text: args.text });",
};

const EMITTER = {
  external_api: true,
  handler: `export default async (_, ctx) => {
    await ctx.callTool("reported", { text: "nested" });
    await ctx.emitWebhook("order.added", { id: 7, token: "kept as passed" });
    return { success: true };
  };`,
};

interface Delivery {
  id: string;
  status: string;
  attempts?: number;
}

/** Checks the signature like a receiver that knows only the documentation. */
function expectSigned({ headers, body }: ReceivedRequest, secret: string): void {
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["x-service-signature"])) ?? [];
  expect(v1).toBe(createHmac("sha256", secret).update(`${t}.`).update(body).digest("hex"));
  expect(Math.abs(Number(t) - Date.now() / 1000)).toBeLessThan(300);
  new Webhook(secret).verify(body, headers as Record<string, string>);
}

describe.each<TopologyKind>(["single", "split"])("in the %s topology", (kind) => {
  let toolgate: RunningToolgate;
  let endpoint: { id: string; secret: string };
  let key: { id: string; secret: string };
  beforeAll(async () => {
    toolgate = await runToolgate(kind);
    await toolgate.saveTool("reported", REPORTED);
    await toolgate.saveTool("emitter", EMITTER);
    await toolgate.saveTool("silent", { ...REPORTED, webhook_event: "true" });
    endpoint = await toolgate.createEndpoint(["tool.completed", "custom.*"]);
    key = await toolgate.createKey({ name: "k", tools: ["reported", "silent", "emitter"] });
  });
  afterAll(() => toolgate[Symbol.asyncDispose]());

  const deliveries = async () =>
    (await toolgate.manage<{ deliveries?: Delivery[] }>("outbound_webhook.v1.DeliveryService/ListDeliveries", {}))
      .deliveries ?? [];

  test("[OUT-1] [OUT-2] [OUT-22] [EVT-1] [EVT-2] [EVT-8] [EVT-23] [EVT-26] [EVT-31] [EVT-32] a run by key is reported by a signed POST of its envelope, without secrets", async () => {
    const before = toolgate.receiver.requests.length;
    await toolgate.call("reported", key.secret, { text: "hook", password: "hunter2" });
    const request = (await toolgate.receiver.waitFor(before + 1))[before] as ReceivedRequest;
    expect([request.method, request.path]).toEqual(["POST", "/hook"]);
    expect(request.headers).toMatchObject({ "x-service-event": "tool.completed", "x-service-hop": "1" });
    expectSigned(request, endpoint.secret);
    const envelope = JSON.parse(request.body.toString());
    expect(envelope).toEqual({
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      type: "tool.completed",
      api_version: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
      created: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/),
      workspace: toolgate.account.workspace,
      data: {
        tool: "reported",
        success: true,
        error: null,
        entry_type: "api_key",
        execution_id: expect.any(String),
        duration_ms: expect.any(Number),
        args: { text: "hook", password: "[entfernt]" },
        result: { success: true, token: "[entfernt]", text: "hook" },
      },
    });
    await eventually(async () => {
      const { rows } = await toolgate.pool.query("select tool from tool_runner.executions where id = $1", [
        envelope.data.execution_id,
      ]);
      expect(rows).toEqual([{ tool: "reported" }]);
    });
  });

  test("[OUT-21] [OUT-35] [OUT-43] a delivery that is refused comes again with the same id and bytes, until it is accepted", async () => {
    const before = toolgate.receiver.requests.length;
    toolgate.receiver.behave((_, index) => ({ status: index === before ? 500 : 204 }));
    await toolgate.call("reported", key.secret, { text: "again" });
    const first = (await toolgate.receiver.waitFor(before + 1))[before] as ReceivedRequest;
    const id = String(first.headers["x-service-delivery"]);
    const untilStatus = (status: string) =>
      eventually(
        async () => (await deliveries()).find((delivery) => delivery.id === id && delivery.status === status) ?? false,
      );
    expect(await untilStatus("DELIVERY_STATUS_RETRYING")).toMatchObject({ attempts: 1 });
    await makeDue(toolgate, id);
    const second = (await toolgate.receiver.waitFor(before + 2))[before + 1] as ReceivedRequest;
    expect(second.headers).toMatchObject({ "x-service-delivery": id, "x-service-attempt": "2" });
    expect(second.body).toEqual(first.body);
    expectSigned(second, endpoint.secret);
    expect(await untilStatus("DELIVERY_STATUS_DELIVERED")).toMatchObject({ attempts: 2 });
  });

  test("[EVT-24] [EVT-29] [EVT-55] [EVT-56] only a flagged run is reported, and no nested one; custom events go out as passed", async () => {
    const before = toolgate.receiver.requests.length;
    const deliveriesBefore = (await deliveries()).length;
    await toolgate.call("silent", key.secret, { text: "x" });
    await toolgate.call("emitter", key.secret);
    await toolgate.call("reported", key.secret, { text: "last" });
    const arrived = (await toolgate.receiver.waitFor(before + 2)).slice(before);
    const events = arrived.map(({ body }) => JSON.parse(body.toString()));
    const completed = events.filter(({ type }) => type === "tool.completed");
    expect(completed.map(({ data }) => data.result.text)).toEqual(["last"]);
    const custom = events.filter(({ type }) => type !== "tool.completed");
    expect(custom.map(({ type, data }) => [type, data])).toEqual([
      ["custom.order.added", { id: 7, token: "kept as passed" }],
    ]);
    expect(await deliveries()).toHaveLength(deliveriesBefore + 2);
  });
});

/** Instead of waiting: makes the retry due now. */
async function makeDue({ pool }: RunningToolgate, deliveryId: string): Promise<void> {
  await pool.query(
    `with item as (
       update outbound_webhook.queue_item set due_at = now() where item_id = $1 returning group_id, member_id
     ), member as (
       update outbound_webhook.queue_member m set ready_at = now()
       from item where m.group_id = item.group_id and m.member_id = item.member_id
     )
     update outbound_webhook.queue_group g set ready_at = now() from item where g.group_id = item.group_id`,
    [deliveryId],
  );
}
