import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { DeliveryStatus } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { EndpointStatus } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type OutboundRig, startOutboundRig } from "./outbound-rig.ts";

const ATTEMPTS_PER_ENDPOINT = 2;

describe("the health of endpoints", () => {
  let rig: OutboundRig;
  beforeAll(async () => {
    rig = await startOutboundRig();
  });
  beforeEach(() => rig.receiver.behave(() => ({ status: 200 })));
  afterAll(() => rig[Symbol.asyncDispose]());

  const list = (workspaceId: string, filter = {}) => rig.endpoints({ workspaceId }).listEndpoints(filter);
  /** The health of the only endpoint, once it fits. */
  const healthOnce = (workspaceId: string, fits: (health: Health) => boolean) =>
    eventually(async () => {
      const [health] = (await list(workspaceId)).health;
      return health !== undefined && fits(health) && health;
    }) as Promise<Health>;
  type Health = Awaited<ReturnType<typeof list>>["health"][number];

  it("[OUT-11] the list says how the last delivery ended and why the last failure failed", async () => {
    rig.receiver.behave(() => ({ status: 503 }));
    const { id } = await rig.register("w-result", "/result");
    const failedEvent = await rig.report({ workspaceId: "w-result" });
    const failing = await healthOnce("w-result", ({ lastResult }) => lastResult !== undefined);
    expect(failing.lastResult).toMatchObject({
      eventType: "custom.thing",
      status: DeliveryStatus.RETRYING,
      attempt: 1,
      responseCode: 503,
      error: "status 503",
    });
    expect(failing).toMatchObject({ waiting: 1, lastFailure: failing.lastResult });
    expect(timestampDate(failing.nextDueAt ?? expect.fail()).getTime()).toBeGreaterThan(rig.clock.now().getTime());
    rig.receiver.behave(() => ({ status: 204 }));
    const { deliveryId } = await rig.endpoints({ workspaceId: "w-result" }).sendTestEvent({ endpointId: id });
    const better = await healthOnce("w-result", ({ lastResult }) => lastResult?.deliveryId === deliveryId);
    expect(better.lastResult).toMatchObject({ status: DeliveryStatus.DELIVERED, responseCode: 204, error: "" });
    const { deliveries } = await rig.deliveries({ workspaceId: "w-result" }).listDeliveries({ eventId: failedEvent });
    expect(better.lastFailure?.deliveryId).toBe(deliveries[0]?.id);
    const { health } = await rig.endpoints({ workspaceId: "w-result" }).getEndpoint({ endpointId: id });
    expect(health).toEqual(better);
  });

  it("[OUT-11] the list counts what waits and what is under way, each endpoint its own", async () => {
    const held = Promise.withResolvers<void>();
    rig.receiver.behave(() => ({ status: 200, after: held.promise }));
    const { id } = await rig.register("w-busy", "/busy");
    await rig.register("w-busy", "/idle", ["tool.completed"]);
    for (let count = 0; count < 5; count += 1) await rig.report({ workspaceId: "w-busy" });
    const busy = await healthOnce("w-busy", ({ inFlight, waiting }) => inFlight === 2 && waiting === 3);
    expect(busy).toMatchObject({ endpointId: id, inFlight: ATTEMPTS_PER_ENDPOINT });
    expect(busy.oldestDueAt).toBeDefined();
    expect((await list("w-busy")).health[1]).toMatchObject({ waiting: 0, inFlight: 0 });
    held.resolve();
    await healthOnce("w-busy", ({ inFlight, waiting }) => inFlight + waiting === 0);
  });

  it("[WMGMT-5] the list is searched by URL and description, and filtered by status", async () => {
    await rig.register("w-find", "/orders");
    const { id } = await rig.register("w-find", "/stock");
    const endpoints = rig.endpoints({ workspaceId: "w-find" });
    await endpoints.updateEndpoint({ endpointId: id, description: "For the 100% Warehouse" });
    const found = async (filter: Parameters<typeof list>[1]) =>
      (await list("w-find", filter)).endpoints.map(({ url }) => new URL(url).pathname);
    expect(await found({ search: "ORDERS" })).toEqual(["/orders"]);
    expect(await found({ search: "100% warehouse" })).toEqual(["/stock"]);
    expect(await found({ search: "%" })).toEqual(["/stock"]);
    expect(await found({ search: "absent" })).toEqual([]);
    rig.receiver.behave(() => ({ status: 410 }));
    await rig.report({ workspaceId: "w-find" });
    await eventually(async () => (await found({ status: EndpointStatus.FAILING })).length === 2);
    await endpoints.updateEndpoint({ endpointId: id, active: false });
    expect(await found({ status: EndpointStatus.FAILING })).toEqual(["/orders"]);
    expect(await found({ status: EndpointStatus.DEACTIVATED })).toEqual(["/stock"]);
    await endpoints.updateEndpoint({ endpointId: id, active: true });
    expect(await found({ status: EndpointStatus.ACTIVE })).toEqual(["/stock"]);
    await expect(found({ status: 99 })).rejects.toMatchObject({ code: Code.InvalidArgument });
  });
});
