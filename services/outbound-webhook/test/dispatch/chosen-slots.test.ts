import { Code } from "@connectrpc/connect";
import { eventually } from "@toolgate/testbed/eventually";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newEvent, type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

/** More than the tests wait, and less than a lease. */
const HUNG_FOR_MS = 40_000;
const WORKSPACE = "w";
const ADMIN = { workspaceId: WORKSPACE, role: "admin" } as const;

describe("more slots for each endpoint of a workspace", () => {
  let rig: OutboundRig;
  beforeEach(async () => {
    rig = await startOutboundRig({ attemptDeadlineMs: HUNG_FOR_MS });
  });
  afterEach(async () => {
    // Ends the attempts that the receivers hold, for which the service would wait.
    await rig.receiver[Symbol.asyncDispose]();
    await rig[Symbol.asyncDispose]();
  });

  const report = (type: string, count: number, workspaceId = WORKSPACE) =>
    rig.reportMany(Array.from({ length: count }, () => newEvent({ workspaceId, type }, rig.clock.now())));
  const choose = (slotsPerEndpoint: number) =>
    rig.endpoints(ADMIN).setDeliverySettings({ settings: { slotsPerEndpoint } });
  /** Registers endpoints and waits until each has accepted a delivery and freed its slot. */
  const registerProven = async (...names: string[]) => {
    for (const name of names) await rig.register(WORKSPACE, `/${name}`, [`custom.${name}`]);
    for (const name of names) await report(`custom.${name}`, 1);
    await eventually(async () => {
      const { rows } = await rig.pool.query(
        "select count(*)::int as members from outbound_webhook.queue_member where usual_ms > 0 and in_flight = 0",
      );
      return rows[0].members === names.length;
    });
    // The receivers below hold requests for longer than these took, but are not to be taken for hanging.
    await rig.pool.query("update outbound_webhook.queue_member set usual_ms = 60000");
  };
  const hold = (...held: string[]) =>
    rig.receiver.behave(({ path }) => (held.includes(path.slice(1)) ? { hang: "before-status" } : {}));
  const requestsTo = (name: string) => rig.requestsTo(`/${name}`).length - 1;

  it("[FAIR-3] an endpoint gets as many requests at once as the workspace has chosen, and others still get theirs", async () => {
    await registerProven("busy", "other");
    hold("busy");
    await choose(4);
    await report("custom.busy", 10);
    await eventually(() => requestsTo("busy") === 4);
    await report("custom.other", 20);
    await eventually(() => requestsTo("other") === 20);
    expect(requestsTo("busy")).toBe(4);
  });

  it("[FAIR-2] all endpoints of a workspace that has chosen 4 slots each have 5 together", async () => {
    await registerProven("one", "two", "three");
    hold("one", "two", "three");
    await choose(4);
    await report("custom.one", 10);
    await eventually(() => requestsTo("one") === 4);
    for (const name of ["two", "three"]) await report(`custom.${name}`, 10);
    await eventually(() => requestsTo("two") + requestsTo("three") === 1);
    // Another workspace is served meanwhile, so these claims have found nothing more for this one.
    await rig.register("elsewhere", "/elsewhere");
    await report("custom.x", 20, "elsewhere");
    await eventually(() => rig.requestsTo("/elsewhere").length === 20);
    const { rows } = await rig.pool.query("select in_flight from outbound_webhook.queue_group where group_id = 'w'");
    expect(rows).toEqual([{ in_flight: 5 }]);
    expect(["one", "two", "three"].map(requestsTo).reduce((sum, count) => sum + count)).toBe(5);
  });

  it("[FAIR] an endpoint that has never accepted a delivery, or hangs, gets no more than without the choice", async () => {
    await registerProven("old", "fine");
    await rig.register(WORKSPACE, "/new", ["custom.new"]);
    hold("old", "new");
    await choose(4);
    await report("custom.new", 10);
    await eventually(() => rig.requestsTo("/new").length === 2);
    await report("custom.old", 1);
    await eventually(() => requestsTo("old") === 1);
    // Now its attempt has been under way for more than four times its usual time.
    await rig.pool.query(
      "update outbound_webhook.queue_member set usual_ms = 1, progress_at = now() - interval '1 s' where in_flight > 0",
    );
    await report("custom.old", 10);
    await report("custom.fine", 20);
    await eventually(() => requestsTo("fine") === 20);
    expect([requestsTo("old"), rig.requestsTo("/new").length]).toEqual([1, 2]);
  });

  it("[WMGMT] admins choose from 1 up to the operator's limit, and managers of the workspace see the choice", async () => {
    const manager = rig.endpoints({ workspaceId: WORKSPACE });
    const limits = { maxSlotsPerEndpoint: 5, defaultSlotsPerEndpoint: 2, slotsPerWorkspace: 5 };
    expect(await manager.getDeliverySettings({})).toMatchObject({ settings: {}, ...limits });
    for (const slotsPerEndpoint of [0, 6])
      await expect(choose(slotsPerEndpoint)).rejects.toMatchObject({ code: Code.InvalidArgument });
    await expect(rig.endpoints(ADMIN).setDeliverySettings({})).rejects.toMatchObject({ code: Code.InvalidArgument });
    await expect(manager.setDeliverySettings({ settings: {} })).rejects.toMatchObject({ code: Code.PermissionDenied });
    for (const slots of [3, 3, 5]) await choose(slots);
    expect(await manager.getDeliverySettings({})).toMatchObject({ settings: { slotsPerEndpoint: 5 }, ...limits });
    const foreign = await rig.endpoints({ workspaceId: "another" }).getDeliverySettings({});
    expect(foreign.settings?.slotsPerEndpoint).toBeUndefined();
    await rig.endpoints(ADMIN).setDeliverySettings({ settings: {} });
    expect((await manager.getDeliverySettings({})).settings?.slotsPerEndpoint).toBeUndefined();
  });
});
