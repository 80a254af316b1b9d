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

  it("[OUT-1] [OUT-2] [EVT-1] [EVT-3] [EVT-4] [EVT-5] [EVT-53] posts the envelope, data exactly as reported", async () => {
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

  it("[OUT-18] [OUT-19] [OUT-20] [OUT-23] [OUT-24] [OUT-25] carries the headers of the specification", async () => {
    await rig.register("w-headers", "/headers", ["tool.completed"]);
    await rig.report({ workspaceId: "w-headers", type: "tool.completed" });
    const [request] = await received("/headers");
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      "x-service-event": "tool.completed",
      "x-service-delivery": expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      "x-service-attempt": "1",
      "x-service-hop": "1",
      "user-agent": expect.stringMatching(/^Service-Webhooks\/1\.0 ./),
    });
  });

  it("[OUT-22] [OUT-26] [OUT-27] [OUT-28] [OUT-29] is signed with the whole secret over the exact bytes", async () => {
    const { secret } = await rig.register("w-signed", "/signed");
    await rig.report({ workspaceId: "w-signed" });
    const [request] = await received("/signed");
    const header = String(request?.headers["x-service-signature"]);
    const [, time, hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
    expect(secret).toMatch(/^whsec_/);
    expect(Math.abs(Number(time) - Date.now() / 1000)).toBeLessThan(60);
    expect(hex).toBe(
      createHmac("sha256", secret)
        .update(`${time}.`)
        .update(request?.body ?? "")
        .digest("hex"),
    );
  });

  it("[OUT] carries Standard Webhooks headers that the standardwebhooks library verifies", async () => {
    const { secret } = await rig.register("w-standard", "/standard");
    const id = await rig.report({ workspaceId: "w-standard" });
    const [request] = await received("/standard");
    const verified = new Webhook(secret).verify(String(request?.body), request?.headers as Record<string, string>);
    expect(verified).toMatchObject({ id });
    expect(request?.headers["webhook-id"]).toBe(request?.headers["x-service-delivery"]);
  });

  it("[OUT-4] goes to the endpoints that subscribed to its type in its workspace, once to each", async () => {
    await rig.register("w-match", "/match-exact", ["custom.order"]);
    await rig.register("w-match", "/match-wildcard", ["custom.*"]);
    await rig.register("w-match", "/match-other", ["custom.other", "tool.completed"]);
    await rig.register("w-stranger", "/match-stranger", ["custom.*"]);
    await rig.report({ workspaceId: "w-match", type: "custom.order" });
    await rig.report({ workspaceId: "w-match", type: "tool.completed" });
    await Promise.all([received("/match-exact"), received("/match-wildcard"), received("/match-other")]);
    const types = (path: string) => rig.requestsTo(path).map((request) => request.headers["x-service-event"]);
    expect(types("/match-exact")).toEqual(["custom.order"]);
    expect(types("/match-wildcard")).toEqual(["custom.order"]);
    expect(types("/match-other")).toEqual(["tool.completed"]);
    expect(types("/match-stranger")).toEqual([]);
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

  it("[OUT-11] [OUT-12] [OUT-13] [OUT-35] is in the log with status, attempts, code, response and payload", async () => {
    const { id } = await rig.register("w-log", "/log");
    rig.receiver.behave(() => ({ status: 202, body: `${"ä".repeat(998)}\0😀tail` }));
    const eventId = await rig.report({ workspaceId: "w-log" });
    const log = rig.deliveries({ workspaceId: "w-log" });
    const deliveryId = await eventually(async () => {
      const { deliveries } = await log.listDeliveries({});
      return deliveries[0]?.status === 3 && deliveries[0].id;
    });
    rig.receiver.behave(() => ({}));
    const { delivery, attemptLog, payload } = await log.getDelivery({ deliveryId });
    expect(delivery).toMatchObject({
      eventId,
      endpointId: id,
      eventType: "custom.thing",
      attempts: 1,
      responseCode: 202,
    });
    expect(delivery?.response).toBe(`${"ä".repeat(998)}\uFFFD😀`);
    expect(delivery?.finishedAt).toBeDefined();
    expect(attemptLog).toMatchObject([{ number: 1, responseCode: 202, address: "127.0.0.1", error: "" }]);
    expect(payload).toBe(String(rig.requestsTo("/log")[0]?.body));
  });

  it("[OUT-17] a body over 256 KB goes out without args and result", async () => {
    await rig.register("w-large", "/large", ["tool.completed"]);
    const dataJson = JSON.stringify({
      tool: "t",
      success: true,
      args: { a: "x".repeat(150_000) },
      result: { b: "y".repeat(150_000) },
    });
    await rig.report({ workspaceId: "w-large", type: "tool.completed", dataJson });
    const [request] = await received("/large");
    expect(JSON.parse(String(request?.body)).data).toEqual({
      tool: "t",
      success: true,
      args: null,
      result: null,
      truncated: true,
    });
  });
});
