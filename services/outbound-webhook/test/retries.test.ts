import { create, toBinary } from "@bufbuild/protobuf";
import { AttemptResultBatchSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { DeliveryStatus } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { sign } from "@toolgate/webhook-signing/sign";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type OutboundRig, startOutboundRig } from "./outbound-rig.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const WAITS_MS = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 12 * HOUR_MS];
/** Real time that passes between the end of an attempt and moving the clock. */
const SLACK_MS = 20_000;

describe("retries", () => {
  let rig: OutboundRig;
  beforeAll(async () => {
    rig = await startOutboundRig();
  });
  beforeEach(() => rig.receiver.behave(() => ({ status: 500 })));
  afterAll(() => rig[Symbol.asyncDispose]());

  function advance(ms: number) {
    rig.clock.advance(ms);
    rig.wake();
  }

  it("[OUT-43] [OUT-44] [OUT-45] [OUT-46] the waits are 1 min, 5 min, 30 min, 2 h and 12 h; the sixth attempt is the last, and counts once for the endpoint", async () => {
    const { id } = await rig.register("w-waits", "/waits");
    await rig.report({ workspaceId: "w-waits" });
    for (const [index, waitMs] of WAITS_MS.entries()) {
      const delivery = await rig.delivery("w-waits", { attempts: index + 1 });
      expect(delivery.status).toBe(DeliveryStatus.RETRYING);
      const endedMs = Number(delivery.nextAttemptAt?.seconds) * 1000 - waitMs;
      expect(Math.abs(endedMs - rig.clock.now().getTime())).toBeLessThan(SLACK_MS);
      advance(waitMs - SLACK_MS);
      expect(rig.requestsTo("/waits")).toHaveLength(index + 1);
      advance(SLACK_MS);
    }
    const delivery = await rig.delivery("w-waits", { attempts: 6 });
    expect(delivery.status).toBe(DeliveryStatus.FAILED);
    expect(delivery.nextAttemptAt).toBeUndefined();
    const queued = await rig.pool.query("select from outbound_webhook.queue_item where group_id = 'w-waits'");
    expect(queued.rowCount).toBe(0);
    const attempts = rig.requestsTo("/waits").map((request) => request.headers["x-service-attempt"]);
    expect(attempts).toEqual(["1", "2", "3", "4", "5", "6"]);
    const { endpoint } = await rig.endpoints({ workspaceId: "w-waits" }).getEndpoint({ endpointId: id });
    expect(endpoint).toMatchObject({ active: true, failuresInARow: 1 });
  });

  it("[OUT-21] retries keep the delivery id and the bytes, and have a new time and signature", async () => {
    await rig.register("w-same", "/same");
    await rig.report({ workspaceId: "w-same" });
    await rig.delivery("w-same", { attempts: 1 });
    advance(MINUTE_MS);
    await rig.delivery("w-same", { attempts: 2 });
    const [first, second] = rig.requestsTo("/same");
    expect(second?.headers["x-service-delivery"]).toBe(first?.headers["x-service-delivery"]);
    expect(second?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
    const time = (header: unknown) => Number(/^t=(\d+)/.exec(String(header))?.[1]);
    const between = time(second?.headers["x-service-signature"]) - time(first?.headers["x-service-signature"]);
    expect(between).toBeGreaterThanOrEqual(59);
  });

  it("[OUT-9] a retry queued before a rotation is signed with the new secret", async () => {
    const { id, secret } = await rig.register("w-rotate", "/rotate");
    await rig.report({ workspaceId: "w-rotate" });
    await rig.delivery("w-rotate", { attempts: 1 });
    const rotated = await rig.endpoints({ workspaceId: "w-rotate" }).rotateSecret({ endpointId: id });
    advance(MINUTE_MS);
    await rig.delivery("w-rotate", { attempts: 2 });
    const [, second] = rig.requestsTo("/rotate");
    const header = String(second?.headers["x-service-signature"]);
    const time = Number(/^t=(\d+)/.exec(header)?.[1]);
    expect(header).toBe(sign(rotated.secret, time, second?.body ?? ""));
    expect(header).not.toBe(sign(secret, time, second?.body ?? ""));
  });

  it("[FAIR] a repeated result, or one of another attempt, changes nothing", async () => {
    const { id } = await rig.register("w-repeated", "/repeated");
    await rig.report({ workspaceId: "w-repeated" });
    const log = rig.deliveries({ workspaceId: "w-repeated" });
    const before = await rig.delivery("w-repeated", { attempts: 1 });
    const publish = async (numbers: number[]) => {
      const startedAtMs = BigInt(rig.clock.now().getTime());
      const result = { deliveryId: before.id, workspaceId: "w-repeated", responseCode: 410, startedAtMs };
      const nonsense = { deliveryId: "x'; --", workspaceId: "w-repeated", number: 1 };
      const results = [...numbers.map((number) => ({ ...result, number })), nonsense];
      const batch = toBinary(AttemptResultBatchSchema, create(AttemptResultBatchSchema, { results }));
      await rig.bus.js.publish("attempts.done", batch);
      await rig.bus.js.publish("attempts.done", new Uint8Array([0xff, 0xff]));
      await eventually(async () => {
        const consumer = await rig.bus.jsm.consumers.info("ATTEMPTS", "outbound-webhook-results");
        return consumer.num_ack_pending + consumer.num_pending === 0;
      });
    };
    await publish([1, 3, 6]);
    expect((await log.listDeliveries({})).deliveries).toEqual([before]);
    const held = Promise.withResolvers<void>();
    rig.receiver.behave(() => ({ after: held.promise }));
    advance(MINUTE_MS);
    await eventually(() => rig.requestsTo("/repeated").length === 2);
    const { deliveries: underWay } = await log.listDeliveries({});
    expect(underWay).toMatchObject([{ status: DeliveryStatus.RETRYING, attempts: 1 }]);
    await publish([1, 3, 6]);
    expect((await log.listDeliveries({})).deliveries).toEqual(underWay);
    held.resolve();
    const { endpoint } = await rig.endpoints({ workspaceId: "w-repeated" }).getEndpoint({ endpointId: id });
    expect(endpoint?.failuresInARow).toBe(0);
  });
});
