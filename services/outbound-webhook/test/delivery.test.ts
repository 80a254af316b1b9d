import { createHmac } from "node:crypto";
import { eventually } from "@toolgate/testbed/eventually";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OutboundRig, startOutboundRig } from "./outbound-rig.ts";

describe("a delivery", () => {
  let rig: OutboundRig;
  beforeAll(async () => {
    rig = await startOutboundRig();
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  async function received(path: string, count = 1) {
    return eventually(() => {
      const requests = rig.requestsTo(path);
      return requests.length >= count && requests;
    });
  }

  it("[OUT-1] [OUT-2] [EVT-1] [EVT-3] [EVT-4] [EVT-5] [EVT-53] posts the envelope with the time of the event, and the data exactly as reported", async () => {
    await rig.register("w-envelope", "/envelope");
    const dataJson = '{"b": 1.0, "big": 12345678901234567890, "a": ["ü", "\\u0000"]}';
    const id = await rig.report({
      workspaceId: "w-envelope",
      workspace: "acme-code",
      created: 1_795_000_000n,
      dataJson,
    });
    const [request] = await received("/envelope");
    expect(request?.method).toBe("POST");
    expect(request?.body.toString()).toBe(
      `{"id":"${id}","type":"custom.thing","api_version":"2026-11-01","created":"2026-11-18T11:06:40Z",` +
        `"workspace":"acme-code","data":${dataJson}}`,
    );
  });

  it("[OUT-18] [OUT-19] [OUT-20] [OUT-23] [OUT-24] [OUT-25] describes itself in its headers", async () => {
    await rig.register("w-headers", "/headers", ["tool.completed"]);
    await rig.report({ workspaceId: "w-headers", type: "tool.completed" });
    const [request] = await received("/headers");
    const { deliveries } = await rig.deliveries({ workspaceId: "w-headers" }).listDeliveries({});
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      "x-service-event": "tool.completed",
      "x-service-delivery": deliveries[0]?.id,
      "x-service-attempt": "1",
      "x-service-hop": "1",
      "user-agent": expect.stringMatching(/^Service-Webhooks\/1\.0 ./),
    });
  });

  it("[OUT-22] [OUT-26] [OUT-27] [OUT-28] [OUT-29] is signed over its time and exact bytes, with the whole secret as the key, and as the standardwebhooks library verifies", async () => {
    const { secret } = await rig.register("w-signed", "/signed");
    const id = await rig.report({ workspaceId: "w-signed" });
    const [{ headers, body } = expect.fail()] = await received("/signed");
    const [, time, hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["x-service-signature"])) ?? [];
    expect(hex).toBe(createHmac("sha256", secret).update(`${time}.`).update(body).digest("hex"));
    expect(Math.abs(Number(time) - Date.now() / 1000)).toBeLessThan(60);
    expect(new Webhook(secret).verify(String(body), headers as Record<string, string>)).toMatchObject({ id });
    expect(headers["webhook-id"]).toBe(headers["x-service-delivery"]);
  });

  it("[OUT-4] goes to the endpoints that subscribed to its type in its workspace, once to each", async () => {
    const exact = await rig.register("w-match", "/match-exact", ["custom.order"]);
    const wildcard = await rig.register("w-match", "/match-wildcard", ["custom.*"]);
    const other = await rig.register("w-match", "/match-other", ["custom.other", "tool.completed"]);
    await rig.register("w-stranger", "/match-stranger", ["custom.*"]);
    const order = await rig.report({ workspaceId: "w-match", type: "custom.order" });
    const completed = await rig.report({ workspaceId: "w-match", type: "tool.completed" });
    await Promise.all([received("/match-exact"), received("/match-wildcard"), received("/match-other")]);
    // One transaction makes all deliveries of an event, so after the first request no more can follow.
    const { rows } = await rig.pool.query(
      "select event_id, endpoint_id from outbound_webhook.delivery where event_id = any($1)",
      [[order, completed]],
    );
    const made = rows.map((row) => `${row.event_id} to ${row.endpoint_id}`);
    const expected = [`${order} to ${exact.id}`, `${order} to ${wildcard.id}`, `${completed} to ${other.id}`];
    expect(made.toSorted()).toEqual(expected.toSorted());
    const types = (path: string) => rig.requestsTo(path).map((request) => request.headers["x-service-event"]);
    expect(types("/match-exact")).toEqual(["custom.order"]);
    expect(types("/match-wildcard")).toEqual(["custom.order"]);
    expect(types("/match-other")).toEqual(["tool.completed"]);
  });

  it("[LOOP-2] an event caused by an incoming hook goes out with hop 2, also when it is sent again", async () => {
    await rig.register("w-hop", "/hop");
    await rig.report({ workspaceId: "w-hop", hop: 2 });
    const [first] = await received("/hop");
    const deliveryId = String(first?.headers["x-service-delivery"]);
    await rig.deliveries({ workspaceId: "w-hop" }).resendDelivery({ deliveryId });
    const [, second] = await received("/hop", 2);
    expect([first?.headers["x-service-hop"], second?.headers["x-service-hop"]]).toEqual(["2", "2"]);
  });
});
