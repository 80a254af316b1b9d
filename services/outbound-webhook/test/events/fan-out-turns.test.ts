import { eventually } from "@toolgate/testbed/eventually";
import { afterEach, describe, expect, it } from "vitest";
import { spawnService } from "../dispatch/service-process.ts";
import { newEvent, type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

const EVENTS = 2_000;
const ENDPOINTS = 20;
const EVENTS_PER_MESSAGE = 100;
const LONG_MS = 240_000;

describe("the fan-out, while one workspace has many events with many endpoints each", () => {
  let rig: OutboundRig;
  afterEach(() => rig[Symbol.asyncDispose]());

  async function registerMany(workspaceId: string, endpoints: number): Promise<void> {
    for (let index = 0; index < endpoints; index += 1) await rig.register(workspaceId, `/${workspaceId}/${index}`);
  }

  async function publishMany(workspaceId: string, events: number): Promise<void> {
    const all = Array.from({ length: events }, () => newEvent({ workspaceId }, rig.clock.now()));
    for (let start = 0; start < events; start += EVENTS_PER_MESSAGE)
      await rig.reportMany(all.slice(start, start + EVENTS_PER_MESSAGE));
  }

  async function countOf(table: "event" | "delivery" | "queue_item", workspaceId: string): Promise<number> {
    const column = table === "queue_item" ? "group_id" : "workspace_id";
    const { rows } = await rig.pool.query(
      `select count(*)::int as count from outbound_webhook.${table} where ${column} = $1`,
      [workspaceId],
    );
    return rows[0].count;
  }

  /** How many events of "large" were stored in transactions before that of the first event of "small". */
  async function storedBeforeSmall(): Promise<number> {
    const { rows } = await rig.pool.query(`select count(*)::int as count from outbound_webhook.event
      where workspace_id = 'large' and xmin::text::bigint < (
        select min(xmin::text::bigint) from outbound_webhook.event where workspace_id = 'small')`);
    return rows[0].count;
  }

  it.each(["active", "inactive"])(
    "[FAIR] another's event is stored before most of them (%s endpoints)",
    async (state) => {
      rig = await startOutboundRig({ instances: [["manager"]] });
      await registerMany("large", ENDPOINTS);
      await registerMany("small", 1);
      if (state === "inactive")
        await rig.pool.query("update outbound_webhook.endpoint set active = false where workspace_id = 'large'");
      await publishMany("large", EVENTS);
      await rig.report({ workspaceId: "small" });
      await rig.start(["fan-out"]);
      await eventually(async () => expect(await countOf("delivery", "small")).toBe(1), { deadlineMs: LONG_MS });
      expect(await storedBeforeSmall()).toBeLessThan(EVENTS / 4);
      await eventually(async () => expect(await countOf("event", "large")).toBe(EVENTS), { deadlineMs: LONG_MS });
      const deliveries = state === "active" ? EVENTS * ENDPOINTS : 0;
      expect(await countOf("delivery", "large")).toBe(deliveries);
      expect(await countOf("queue_item", "large")).toBe(deliveries);
    },
  );

  it("[OUT-57] nothing is lost or stored twice when the process is killed in the middle", async () => {
    rig = await startOutboundRig({ instances: [["manager"]] });
    const endpoints = 5;
    await registerMany("large", endpoints);
    await registerMany("small", 1);
    await publishMany("large", EVENTS);
    await publishMany("small", 200);
    const child = await spawnService(rig, "fan-out");
    await eventually(async () => (await countOf("event", "large")) > 0, { everyMs: 2, deadlineMs: LONG_MS });
    child.kill("SIGKILL");
    expect(await countOf("event", "large")).toBeLessThan(EVENTS);
    await rig.start(["fan-out"]);
    await eventually(async () => expect(await countOf("event", "large")).toBe(EVENTS), { deadlineMs: LONG_MS });
    await eventually(async () => expect(await countOf("event", "small")).toBe(200), { deadlineMs: LONG_MS });
    expect(await countOf("delivery", "large")).toBe(EVENTS * endpoints);
    expect(await countOf("delivery", "small")).toBe(200);
  });

  it("[OUT-57] a process that stops gives back what it has not stored to another one", async () => {
    rig = await startOutboundRig({ instances: [["manager"]] });
    await registerMany("large", ENDPOINTS);
    const stopping = await rig.start(["fan-out"]);
    await publishMany("large", EVENTS);
    await eventually(async () => (await countOf("event", "large")) > 0, { everyMs: 2, deadlineMs: LONG_MS });
    await stopping[Symbol.asyncDispose]();
    const stored = await countOf("event", "large");
    expect(stored).toBeLessThan(EVENTS);
    const { num_ack_pending } = await rig.bus.jsm.consumers.info("EVENTS", "outbound-webhook-fan-out");
    await rig.start(["fan-out"]);
    await eventually(async () => expect(await countOf("event", "large")).toBe(EVENTS), { deadlineMs: LONG_MS });
    expect(await countOf("delivery", "large")).toBe(EVENTS * ENDPOINTS);
    expect(num_ack_pending).toBeLessThanOrEqual(EVENTS / EVENTS_PER_MESSAGE);
  });
});
