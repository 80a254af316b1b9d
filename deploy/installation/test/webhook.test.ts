import { createHmac } from "node:crypto";
import type { ReceivedRequest } from "@toolgate/testbed/behaviour";
import { eventually } from "@toolgate/testbed/eventually";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningToolgate, runToolgate, type TopologyKind } from "./running-toolgate.ts";

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
  eventId: string;
  status: string;
  attempts?: number;
}

/** The signature as a receiver checks it that knows only the documentation. */
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

  test("[EVT-1..6] [EVT-8] [EVT-23] [EVT-26] [OUT-1] [OUT-2] [OUT-18..29] a run by key is reported, signed over the exact bytes", async () => {
    const before = toolgate.receiver.requests.length;
    await toolgate.call("reported", key.secret, { text: "hook" });
    const request = (await toolgate.receiver.waitFor(before + 1))[before] as ReceivedRequest;
    expectSigned(request, endpoint.secret);
    expect(request.method).toBe("POST");
    expect(request.headers).toMatchObject({
      "content-type": "application/json",
      "x-service-event": "tool.completed",
      "x-service-attempt": "1",
      "x-service-hop": "1",
    });
    expect(request.headers["x-service-delivery"]).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(request.headers["user-agent"]).toMatch(/^Service-Webhooks\/1\.0 ./);
    const envelope = JSON.parse(request.body.toString());
    expect(Object.keys(envelope).sort()).toEqual(["api_version", "created", "data", "id", "type", "workspace"]);
    expect(envelope).toMatchObject({ type: "tool.completed", workspace: toolgate.account.workspace });
    expect(envelope.id).toMatch(/^evt_[0-9a-f]{32}$/);
    expect(envelope.api_version).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(envelope.created).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/);
    expect(envelope.data).toMatchObject({ tool: "reported", success: true, error: null, entry_type: "api_key" });
    const run = await eventually(async () => {
      const { rows } = await toolgate.pool.query("select tool from tool_runner.executions where id = $1", [
        envelope.data.execution_id,
      ]);
      return rows[0] ?? false;
    });
    expect(run.tool).toBe("reported");
  });

  test("[EVT-31] [EVT-32] secret-looking values and underscore names do not leave the house", async () => {
    const before = toolgate.receiver.requests.length;
    await toolgate.call("reported", key.secret, { text: "x", password: "hunter2" });
    const request = (await toolgate.receiver.waitFor(before + 1))[before] as ReceivedRequest;
    const { data } = JSON.parse(request.body.toString());
    expect(data.args).toEqual({ text: "x", password: "[entfernt]" });
    expect(data.result).toEqual({ success: true, token: "[entfernt]", text: "x" });
  });

  test("[OUT-41] [OUT-43] [OUT-20] [OUT-21] [OUT-23] [OUT-35] after a 500 the same delivery comes again, with the next attempt number and a fresh signature", async () => {
    const before = toolgate.receiver.requests.length;
    toolgate.receiver.behave((_, index) => ({ status: index === before ? 500 : 204 }));
    await toolgate.call("reported", key.secret, { text: "again" });
    const first = (await toolgate.receiver.waitFor(before + 1))[before] as ReceivedRequest;
    const deliveryId = String(first.headers["x-service-delivery"]);
    await eventually(async () => {
      const delivery = (await deliveries()).find(({ id }) => id === deliveryId);
      return delivery?.status === "DELIVERY_STATUS_RETRYING";
    });
    await makeDue(toolgate, deliveryId);
    const second = (await toolgate.receiver.waitFor(before + 2))[before + 1] as ReceivedRequest;
    expect(second.headers["x-service-delivery"]).toBe(deliveryId);
    expect(second.headers["x-service-attempt"]).toBe("2");
    expect(second.body).toEqual(first.body);
    expectSigned(second, endpoint.secret);
    await eventually(async () => {
      const delivery = (await deliveries()).find(({ id }) => id === deliveryId);
      return delivery?.status === "DELIVERY_STATUS_DELIVERED" && delivery.attempts === 2;
    });
  });

  test("[OUT-51] [OUT-52] [OUT-53] a resend is a new delivery of the same event", async () => {
    const [last] = await deliveries();
    const before = toolgate.receiver.requests.length;
    const { deliveryId } = await toolgate.manage<{ deliveryId: string }>(
      "outbound_webhook.v1.DeliveryService/ResendDelivery",
      { deliveryId: last?.id },
    );
    const request = (await toolgate.receiver.waitFor(before + 1))[before] as ReceivedRequest;
    expect(request.headers["x-service-delivery"]).toBe(deliveryId);
    expect(deliveryId).not.toBe(last?.id);
    expect(JSON.parse(request.body.toString()).id).toBe(last?.eventId);
  });

  test("[EVT-24] [EVT-29] [EVT-55] [EVT-56] only exactly true reports; a custom event is sent as passed, nested runs report nothing", async () => {
    const before = toolgate.receiver.requests.length;
    await toolgate.call("silent", key.secret, { text: "x" });
    await toolgate.call("emitter", key.secret);
    await toolgate.call("reported", key.secret, { text: "last" });
    const arrived = (await toolgate.receiver.waitFor(before + 2)).slice(before);
    const bodies = arrived.map(({ body }) => JSON.parse(body.toString()));
    expect(bodies.map(({ type, data }) => [type, data.result?.text ?? data]).sort()).toEqual(
      [
        ["custom.order.added", { id: 7, token: "kept as passed" }],
        ["tool.completed", "last"],
      ].sort(),
    );
    expect((await deliveries()).length).toBe(toolgate.receiver.requests.length - 1);
  });
});

/** Lets the clock run: what waits for its retry is due now. */
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
