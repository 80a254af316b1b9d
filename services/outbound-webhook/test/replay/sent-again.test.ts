import { Code } from "@connectrpc/connect";
import { ReplaySelection } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { codeOf } from "@toolgate/testbed/rpc-errors";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MAX_SENT_AGAIN } from "../../src/store/deliveries/add.ts";
import type { OutboundRig } from "../outbound-rig.ts";
import { eventsOf, type ReplayScene, SECOND_MS, startReplayScene } from "./scene.ts";

describe("how often an event is sent to an endpoint again", () => {
  let scene: ReplayScene;
  let rig: OutboundRig;
  beforeEach(async () => {
    scene = await startReplayScene();
    rig = scene.rig;
  });
  afterEach(() => scene[Symbol.asyncDispose]());

  /** Adds resends of the past. */
  const addResends = (endpointId: bigint, eventId: string, times: number) =>
    rig.pool.query(
      `insert into outbound_webhook.delivery (created_at, id, workspace_id, endpoint_id, event_created_at, event_id,
         event_type, event_at, kind, status, decides)
       select $3, outbound_webhook.delivery_id($3), 'w', $1, created_at, id, type, created_at, 'resend', 'failed', false
       from (select * from outbound_webhook.event where id = $2 limit 1) event, generate_series(1, $4)`,
      [endpointId, eventId, rig.clock.now(), times],
    );
  const log = () => rig.deliveries({ workspaceId: "w" });
  const resendEvent = async (eventId: string) => {
    const { deliveries } = await log().listDeliveries({ eventId });
    return log().resendDelivery({ deliveryId: deliveries[0]?.id ?? "" });
  };

  it("[OUT-51] an event is resent to an endpoint at most 100 times, and other endpoints and events are not affected", async () => {
    await rig.register("w", "/1");
    await rig.register("w", "/2");
    const eventIds = [await rig.report({ workspaceId: "w" }), await rig.report({ workspaceId: "w" })];
    await eventually(async () => (await scene.deliveries()).length === 4);
    const { deliveries } = await log().listDeliveries({ eventId: eventIds[0] ?? "" });
    const [one, two] = deliveries.map(({ id }) => id);
    await log().resendDelivery({ deliveryId: one ?? "" });
    await addResends(deliveries[0]?.endpointId ?? 0n, eventIds[0] ?? "", MAX_SENT_AGAIN - 2);
    await log().resendDelivery({ deliveryId: one ?? "" });
    const { deliveries: resent } = await log().listDeliveries({ eventId: eventIds[0] ?? "" });
    for (const deliveryId of [one, resent[0]?.id]) {
      expect(
        await log()
          .resendDelivery({ deliveryId: deliveryId ?? "" })
          .catch(codeOf),
      ).toBe(Code.ResourceExhausted);
    }
    await log().resendDelivery({ deliveryId: two ?? "" });
    await resendEvent(eventIds[1] ?? "");
    expect(await scene.deliveries()).toHaveLength(4 + MAX_SENT_AGAIN + 2);
  });

  it("[OUT] replays count too, and skip events that were sent 100 times", async () => {
    const { id, eventIds } = await scene.backlog(3);
    const [spent = "", last = "", other = ""] = eventIds;
    await addResends(id, spent, MAX_SENT_AGAIN);
    await addResends(id, last, MAX_SENT_AGAIN - 1);
    rig.receiver.behave(() => ({ status: 410 }));
    await rig.start(["dispatcher", "worker"]);
    expect(await scene.done(await scene.start(id))).toMatchObject({ considered: 3, sent: 2, failed: 2, skipped: 1 });
    expect(await scene.done(await scene.start(id))).toMatchObject({ considered: 3, sent: 1, failed: 1, skipped: 2 });
    expect(await resendEvent(last).catch(codeOf)).toBe(Code.ResourceExhausted);

    const failed = await rig.report({ workspaceId: "w" });
    await eventually(async () => (await scene.undelivered()) === 4);
    await addResends(id, failed, MAX_SENT_AGAIN);
    rig.receiver.behave(() => ({}));
    rig.clock.advance(SECOND_MS);
    const range = { ...scene.wholeRange(), selection: ReplaySelection.ALL };
    expect(await scene.done(await scene.start(id, { range }))).toMatchObject({ sent: 1, delivered: 1, skipped: 3 });
    expect(eventsOf(rig.requestsTo("/w")).toSorted()).toEqual([last, other, other, other, failed].toSorted());
  });
});
