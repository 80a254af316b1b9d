import { eventually } from "@toolgate/testbed/eventually";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newEvent, type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

/** More than the tests wait, and less than a lease. */
const HUNG_FOR_MS = 40_000;
const SLOTS = 5;

describe("slots that a workspace borrows while endpoints hang", () => {
  let rig: OutboundRig;
  beforeEach(async () => {
    rig = await startOutboundRig({ attemptDeadlineMs: HUNG_FOR_MS });
  });
  afterEach(async () => {
    // Ends the attempts that hang, for which the service would wait.
    await rig.receiver[Symbol.asyncDispose]();
    await rig[Symbol.asyncDispose]();
  });

  const report = (type: string, count: number, workspaceId = "w") =>
    rig.reportMany(Array.from({ length: count }, () => newEvent({ workspaceId, type }, rig.clock.now())));
  /** Registers endpoints that all get one type of event, and waits until each has accepted one. */
  const registerProven = async (type: string, count: number) => {
    const paths = Array.from({ length: count }, (_, index) => `/${type}/${index}`);
    for (const path of paths) await rig.register("w", path, [type]);
    await report(type, 1);
    await eventually(() => paths.every((path) => rig.requestsTo(path).length === 1));
  };
  /** Waits until nothing is under way, and makes what the endpoints usually take independent of this machine. */
  const allSettled = async () => {
    await eventually(async () => {
      const { rows } = await rig.pool.query("select sum(in_flight)::int as slots from outbound_webhook.queue_group");
      return rows[0].slots === 0;
    });
    await rig.pool.query("update outbound_webhook.queue_member set usual_ms = 1");
  };
  /** How many slots of the workspace are in use, and how many of its endpoints have failed. */
  const state = async () => {
    const { rows } = await rig.pool.query(
      `select sum(in_flight)::int as slots, count(*) filter (where failing)::int as failed
       from outbound_webhook.queue_member where group_id = 'w'`,
    );
    return rows[0];
  };
  const hang = (type: string) =>
    rig.receiver.behave(({ path }) => (path.startsWith(`/${type}`) ? { hang: "before-status" } : {}));
  const requestsFor = (type: string) => rig.receiver.requests.filter(({ path }) => path.startsWith(`/${type}`)).length;

  it("[FAIR] five endpoints that begin to hang in the same moment do not keep healthy ones waiting until they fail", async () => {
    await registerProven("custom.hung", SLOTS);
    await registerProven("custom.fine", 3);
    await allSettled();
    hang("custom.hung");
    await report("custom.hung", 1);
    await eventually(() => requestsFor("custom.hung") === 2 * SLOTS);
    await report("custom.fine", 20);
    await eventually(() => requestsFor("custom.fine") === 3 * 21);
    // All of them hang on.
    expect((await state()).failed).toBe(0);
    expect(requestsFor("custom.hung")).toBe(2 * SLOTS);
  });

  it("[FAIR-2] however many endpoints begin to hang, a workspace has at most twice its slots, and others have theirs", async () => {
    await registerProven("custom.hung", 15);
    await allSettled();
    hang("custom.hung");
    await report("custom.hung", 1);
    await eventually(() => requestsFor("custom.hung") === 15 + 2 * SLOTS);
    expect(await state()).toEqual({ slots: 2 * SLOTS, failed: 0 });
    await rig.register("another", "/another");
    await report("custom.x", 20, "another");
    await eventually(() => rig.requestsTo("/another").length === 20);
    expect(requestsFor("custom.hung")).toBe(15 + 2 * SLOTS);
  });

  it("[FAIR-2] endpoints that have never responded take five slots and no more", async () => {
    hang("custom.new");
    for (let index = 0; index < 8; index += 1) await rig.register("w", `/custom.new/${index}`, ["custom.new"]);
    await report("custom.new", 3);
    await eventually(() => requestsFor("custom.new") === SLOTS);
    await rig.pool.query(
      "update outbound_webhook.queue_member set progress_at = now() - interval '8 s' where in_flight > 0",
    );
    await rig.register("another", "/another");
    await report("custom.x", 20, "another");
    await eventually(() => rig.requestsTo("/another").length === 20);
    expect(requestsFor("custom.new")).toBe(SLOTS);
  });
});
