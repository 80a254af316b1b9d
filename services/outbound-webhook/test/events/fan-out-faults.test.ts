import { eventually } from "@toolgate/testbed/eventually";
import { afterEach, describe, expect, it } from "vitest";
import { spawnService } from "../dispatch/service-process.ts";
import { newEvent, type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

const EVENTS = 2_000;
const EVENTS_PER_MESSAGE = 100;
const LONG_MS = 60_000;

describe("the fan-out", () => {
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

  async function countOf(table: "event" | "delivery", workspaceId: string): Promise<number> {
    const { rows } = await rig.pool.query(
      `select count(*)::int as count from outbound_webhook.${table} where workspace_id = $1`,
      [workspaceId],
    );
    return rows[0].count;
  }

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

  it("[OUT] a workspace whose queue is locked does not keep the events of others waiting, and loses none", async () => {
    rig = await startOutboundRig({ instances: [["manager", "fan-out"]] });
    for (const name of ["locked", "free"]) await registerMany(name, 1);
    const holder = await rig.pool.connect();
    await holder.query("begin");
    await holder.query("select from outbound_webhook.queue_group where group_id = 'locked' for update");
    await rig.reportMany(["locked", "free"].map((workspaceId) => newEvent({ workspaceId }, rig.clock.now())));
    await eventually(async () => expect(await countOf("delivery", "free")).toBe(1));
    expect(await countOf("delivery", "locked")).toBe(0);
    await holder.query("rollback");
    holder.release();
    await eventually(async () => expect(await countOf("delivery", "locked")).toBe(1));
    expect(await countOf("delivery", "free")).toBe(1);
  });
});
