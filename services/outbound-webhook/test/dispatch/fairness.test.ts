import { eventually } from "@toolgate/testbed/eventually";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

const BACKLOG_EVENTS = 5_000;
const EVENTS_PER_MESSAGE = 200;
/** More than the tests wait for deliveries to healthy endpoints. */
const HUNG_FOR_MS = 30_000;
/** Less than an attempt may take. */
const OPEN_MS = 6_000;

/** Counts the requests that a receiver is working on, by path and by workspace (the first part of the path). */
class Census {
  readonly now = new Map<string, number>();
  readonly peak = new Map<string, number>();
  take(path: string, forMs: number): void {
    const keys = [path, path.split("/")[1] ?? ""];
    this.#count(keys, 1);
    setTimeout(() => this.#count(keys, -1), forMs);
  }
  #count(keys: string[], change: number): void {
    for (const key of keys) {
      const next = (this.now.get(key) ?? 0) + change;
      this.now.set(key, next);
      this.peak.set(key, Math.max(next, this.peak.get(key) ?? 0));
    }
  }
}

describe("fairness", () => {
  let rig: OutboundRig;
  afterEach(() => rig[Symbol.asyncDispose]());

  const report = async (workspaceId: string, type: string, count: number) => {
    for (let left = count; left > 0; left -= EVENTS_PER_MESSAGE)
      await rig.reportSome(workspaceId, Math.min(left, EVENTS_PER_MESSAGE), type);
  };
  const waiting = async (workspaceId: string): Promise<number> => {
    const { rows } = await rig.pool.query(
      "select count(*)::int as items from outbound_webhook.queue_item where group_id = $1",
      [workspaceId],
    );
    return rows[0].items;
  };

  describe("with one instance", () => {
    beforeEach(async () => {
      rig = await startOutboundRig({ attemptDeadlineMs: HUNG_FOR_MS });
    });

    it("[FAIR-3] [OUT-56] endpoints that hang do not delay others: they hold at most 2 slots until they fail", async () => {
      rig.receiver.behave((request) => (request.path === "/w/hung" ? { hang: "before-status" } : {}));
      await rig.register("w", "/w/hung", ["custom.hung"]);
      await rig.register("w", "/w/fine", ["custom.fine"]);
      await report("w", "custom.hung", 10);
      await eventually(() => rig.requestsTo("/w/hung").length === 2);
      await report("w", "custom.fine", 50);
      await eventually(() => rig.requestsTo("/w/fine").length === 50);
      expect(rig.requestsTo("/w/hung")).toHaveLength(2);
    });

    it("[FAIR] endpoints that fail share 2 slots, so that their backlog does not starve a healthy one", async () => {
      const census = new Census();
      rig.receiver.behave((request) => {
        if (request.path === "/w/fine") return {};
        census.take(request.path, 60);
        return { status: 500, delayMs: 60 };
      });
      for (const name of ["dead1", "dead2", "dead3", "dead4"]) await rig.register("w", `/w/${name}`, ["custom.dead"]);
      await rig.register("w", "/w/fine", ["custom.fine"]);
      await report("w", "custom.dead", 1);
      await eventually(() => rig.receiver.requests.length === 4);
      await eventually(async () => {
        const { rows } = await rig.pool.query("select 1 from outbound_webhook.queue_member where failing");
        return rows.length === 4;
      });
      census.peak.clear();
      await report("w", "custom.dead", 100);
      await eventually(() => rig.receiver.requests.length > 20);
      await report("w", "custom.fine", 20);
      await eventually(() => rig.requestsTo("/w/fine").length === 20);
      expect(await waiting("w")).toBeGreaterThan(100);
      expect(census.peak.get("w")).toBe(2);
    });

    it("[FAIR] a backlog of 5,000 in one workspace does not delay the first delivery of another", async () => {
      rig.receiver.behave((request) => (request.path === "/busy/x" ? { delayMs: 500 } : {}));
      await rig.register("busy", "/busy/x");
      await rig.register("calm", "/calm/x");
      await report("busy", "custom.x", BACKLOG_EVENTS);
      await eventually(async () => (await waiting("busy")) > BACKLOG_EVENTS * 0.95, { everyMs: 100 });
      const before = rig.requestsTo("/busy/x").length;
      await report("calm", "custom.x", 1);
      await eventually(() => rig.requestsTo("/calm/x").length === 1);
      expect(rig.requestsTo("/busy/x").length - before).toBeLessThan(BACKLOG_EVENTS / 100);
    });
  });

  it("[FAIR-2] [FAIR-3] the caps are exact with three dispatchers and three workers", async () => {
    const both = ["dispatcher", "worker"] as const;
    rig = await startOutboundRig({ instances: [["manager", "fan-out"], both, both, both] });
    const census = new Census();
    rig.receiver.behave((request, index) => {
      // The first requests stay open, so that the caps are reached, however busy the machine is.
      const delayMs = index < 3 * 5 ? OPEN_MS : 5 + (index % 4) * 5;
      census.take(request.path, delayMs);
      return { delayMs };
    });
    const workspaces = ["a", "b", "c"];
    for (const workspace of workspaces) {
      for (const endpoint of [1, 2, 3, 4]) await rig.register(workspace, `/${workspace}/${endpoint}`);
    }
    for (const workspace of workspaces) await report(workspace, "custom.x", 40);
    await eventually(() => rig.receiver.requests.length === 3 * 4 * 40);
    for (const workspace of workspaces) {
      expect(census.peak.get(workspace)).toBe(5);
      // Five simultaneous attempts at four endpoints.
      expect(Math.max(...[1, 2, 3, 4].map((endpoint) => census.peak.get(`/${workspace}/${endpoint}`) ?? 0))).toBe(2);
    }
    const ids = rig.receiver.requests.map((request) => request.headers["x-service-delivery"]);
    expect(new Set(ids).size).toBe(ids.length);
    await eventually(async () => (await waiting("a")) + (await waiting("b")) + (await waiting("c")) === 0);
  });
});
