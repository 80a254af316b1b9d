import { DeliveryKind, DeliveryStatus } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CANCELLED_PER_TRANSACTION } from "../../src/store/deliveries/cancel-waiting.ts";
import { type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

/** Takes three transactions. */
const LONG_BACKLOG = 2 * CANCELLED_PER_TRANSACTION + 100;

describe("the deliveries that wait for a deactivated or deleted endpoint", () => {
  let rig: OutboundRig;
  beforeEach(async () => {
    rig = await startOutboundRig({ instances: [["manager", "fan-out"]] });
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  /** As if all endpoints were deactivated and activated again by a process that has died since. */
  const leaveCancellations = () =>
    rig.pool.query("update outbound_webhook.endpoint set cancel_until = $1", [rig.clock.now()]);
  const reached = (status: string, count: number) =>
    eventually(async () => {
      const text = "select from outbound_webhook.delivery where status = $1";
      expect((await rig.pool.query(text, [status])).rowCount).toBe(count);
    });

  it("[OUT] [OUT-54] a long backlog is cancelled, but not a test event that is sent afterwards", async () => {
    const { id: endpointId } = await rig.register("w", "/w");
    await rig.reportSome("w", LONG_BACKLOG);
    await reached("pending", LONG_BACKLOG);
    await rig.endpoints({ workspaceId: "w" }).updateEndpoint({ endpointId, active: false });
    rig.clock.advance(1);
    await rig.endpoints({ workspaceId: "w" }).sendTestEvent({ endpointId });
    await reached("cancelled", LONG_BACKLOG);
    const { deliveries } = await rig.deliveries({ workspaceId: "w" }).listDeliveries({ kind: DeliveryKind.TEST });
    expect(deliveries).toMatchObject([{ status: DeliveryStatus.PENDING }]);
  });

  it("[FAIR] [OUT] those that a process has left are cancelled, of the workspaces in turn", async () => {
    for (const workspaceId of ["w1", "w2"]) {
      await rig.register(workspaceId, `/${workspaceId}`);
      await rig.reportSome(workspaceId, LONG_BACKLOG);
    }
    await reached("pending", 2 * LONG_BACKLOG);
    await leaveCancellations();
    await rig.start(["manager"]);
    await reached("cancelled", 2 * LONG_BACKLOG);
    const { rows } = await rig.pool.query(
      `select min(finished_at) as first, max(finished_at) as last from outbound_webhook.delivery
       group by workspace_id order by workspace_id`,
    );
    expect(rows[1].first.getTime()).toBeLessThan(rows[0].last.getTime());
  });

  it("[OUT] an endpoint that is active again before they are cancelled gets only those that were made afterwards", async () => {
    await rig.register("w", "/w");
    await rig.reportSome("w", LONG_BACKLOG);
    await reached("pending", LONG_BACKLOG);
    await leaveCancellations();
    rig.clock.advance(1_000);
    const made = await rig.report({ workspaceId: "w" });
    await rig.start(["dispatcher", "worker"]);
    await reached("cancelled", LONG_BACKLOG);
    await reached("delivered", 1);
    expect(rig.receiver.requests.map(({ body }) => JSON.parse(String(body)).id)).toEqual([made]);
  });
});
