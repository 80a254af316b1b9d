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
  eventId: string;
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

  describe("the report of a run by key", () => {
    let request: ReceivedRequest;
    let envelope: Record<string, unknown> & { data: Record<string, unknown> };
    beforeAll(async () => {
      const before = toolgate.receiver.requests.length;
      await toolgate.call("reported", key.secret, { text: "hook" });
      request = (await toolgate.receiver.waitFor(before + 1))[before] as ReceivedRequest;
      envelope = JSON.parse(request.body.toString());
    });

    test("[OUT-1] [EVT-5] is a POST to the endpoint's URL that names the workspace", () => {
      expect([request.method, request.path]).toEqual(["POST", "/hook"]);
      expect(envelope.workspace).toBe(toolgate.account.workspace);
    });

    test("[OUT-2] [EVT-2] [EVT-6] has the envelope as its body, and nothing else", () => {
      expect(Object.keys(envelope).sort()).toEqual(["api_version", "created", "data", "id", "type", "workspace"]);
      expect(envelope).toMatchObject({ type: "tool.completed", data: expect.any(Object) });
    });

    test("[EVT-1] [EVT-3] [EVT-4] has an id, a version and a time of their formats", () => {
      expect(envelope.id).toMatch(/^evt_[0-9a-f]{32}$/);
      expect(envelope.api_version).toMatch(/^\d{4}-\d{2}-\d{2}$/);
      expect(envelope.created).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/);
    });

    test("[EVT-8] [EVT-23] [EVT-26] describes the run that the execution log has", async () => {
      expect(envelope.data).toEqual({
        tool: "reported",
        success: true,
        error: null,
        entry_type: "api_key",
        execution_id: expect.any(String),
        duration_ms: expect.any(Number),
        args: { text: "hook" },
        result: { success: true, token: "[entfernt]", text: "hook" },
      });
      await eventually(async () => {
        const { rows } = await toolgate.pool.query("select tool from tool_runner.executions where id = $1", [
          envelope.data.execution_id,
        ]);
        expect(rows).toEqual([{ tool: "reported" }]);
      });
    });

    test("[OUT-18] [OUT-19] [OUT-23] has headers for the content type, the event type and the attempt", () => {
      expect(request.headers).toMatchObject({
        "content-type": "application/json",
        "x-service-event": "tool.completed",
        "x-service-attempt": "1",
      });
    });

    test("[OUT-20] [OUT-24] [OUT-25] has headers for the delivery, the hop and the sender", () => {
      expect(request.headers["x-service-delivery"]).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(request.headers["x-service-hop"]).toBe("1");
      expect(request.headers["user-agent"]).toMatch(/^Service-Webhooks\/1\.0 ./);
    });

    test("[OUT-22] [OUT-26] [OUT-27] is signed with an HMAC-SHA256 under the endpoint's secret", () => {
      expectSigned(request, endpoint.secret);
      expect(() => expectSigned(request, `${endpoint.secret}x`)).toThrow();
    });

    test("[OUT-28] [OUT-29] is signed over the header's time and the exact bytes", () => {
      const [, t, v1] = /^t=(\d+),v1=(.*)$/.exec(String(request.headers["x-service-signature"])) ?? [];
      const signatureOf = (time: number, body: Buffer) =>
        createHmac("sha256", endpoint.secret).update(`${time}.`).update(body).digest("hex");
      expect(v1).toBe(signatureOf(Number(t), request.body));
      expect(v1).not.toBe(signatureOf(Number(t) + 1, request.body));
      expect(v1).not.toBe(signatureOf(Number(t), Buffer.from(`${request.body} `)));
    });
  });

  test("[EVT-31] [EVT-32] secret-looking values are replaced and underscore names dropped", async () => {
    const before = toolgate.receiver.requests.length;
    await toolgate.call("reported", key.secret, { text: "x", password: "hunter2" });
    const request = (await toolgate.receiver.waitFor(before + 1))[before] as ReceivedRequest;
    const { data } = JSON.parse(request.body.toString());
    expect(data.args).toEqual({ text: "x", password: "[entfernt]" });
    expect(data.result).toEqual({ success: true, token: "[entfernt]", text: "x" });
  });

  describe("a delivery that the receiver refuses once with 500", () => {
    let retrying: Delivery;
    let first: ReceivedRequest;
    let second: ReceivedRequest;
    const untilStatus = (id: string, status: string) =>
      eventually(
        async () => (await deliveries()).find((delivery) => delivery.id === id && delivery.status === status) ?? false,
      );
    beforeAll(async () => {
      const before = toolgate.receiver.requests.length;
      toolgate.receiver.behave((_, index) => ({ status: index === before ? 500 : 204 }));
      await toolgate.call("reported", key.secret, { text: "again" });
      first = (await toolgate.receiver.waitFor(before + 1))[before] as ReceivedRequest;
      retrying = await untilStatus(String(first.headers["x-service-delivery"]), "DELIVERY_STATUS_RETRYING");
      await makeDue(toolgate, retrying.id);
      second = (await toolgate.receiver.waitFor(before + 2))[before + 1] as ReceivedRequest;
    });

    test("[OUT-41] [OUT-43] waits for its retry after that one attempt", () => {
      expect(retrying).toMatchObject({ status: "DELIVERY_STATUS_RETRYING", attempts: 1 });
    });

    test("[OUT-20] [OUT-21] [OUT-23] comes again with the same id and bytes and the next attempt number", () => {
      expect(second.headers["x-service-delivery"]).toBe(retrying.id);
      expect(second.headers["x-service-attempt"]).toBe("2");
      expect(second.body).toEqual(first.body);
    });

    test("[OUT-22] is signed for each attempt", () => {
      expectSigned(first, endpoint.secret);
      expectSigned(second, endpoint.secret);
    });

    test("[OUT-35] is delivered once the receiver accepts it", async () => {
      expect(await untilStatus(retrying.id, "DELIVERY_STATUS_DELIVERED")).toMatchObject({ attempts: 2 });
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

  describe("a run without the exact flag, one with a nested run and a custom event, and a flagged one", () => {
    let events: { type: string; data: Record<string, unknown> & { result?: { text: string } } }[];
    beforeAll(async () => {
      const before = toolgate.receiver.requests.length;
      await toolgate.call("silent", key.secret, { text: "x" });
      await toolgate.call("emitter", key.secret);
      await toolgate.call("reported", key.secret, { text: "last" });
      const arrived = (await toolgate.receiver.waitFor(before + 2)).slice(before);
      events = arrived.map(({ body }) => JSON.parse(body.toString()));
    });

    test("[EVT-24] [EVT-29] only the flagged run is reported, and no nested one", async () => {
      const completed = events.filter(({ type }) => type === "tool.completed");
      expect(completed.map(({ data }) => data.result?.text)).toEqual(["last"]);
      // One request was a retry.
      expect((await deliveries()).length).toBe(toolgate.receiver.requests.length - 1);
    });

    test("[EVT-55] [EVT-56] the custom event has the fixed prefix and the data that the tool passed", () => {
      const custom = events.filter(({ type }) => type !== "tool.completed");
      expect(custom.map(({ type, data }) => [type, data])).toEqual([
        ["custom.order.added", { id: 7, token: "kept as passed" }],
      ]);
    });
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
