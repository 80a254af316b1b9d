import { afterAll, beforeAll, expect, it } from "vitest";
import { createPipelinePool } from "../../src/fair-queue/pipeline.ts";
import type { Pool } from "../../src/pool.ts";
import { type Item, type QueueRig, startQueueRig } from "./queue-rig.ts";

const GROUPS = ["a", "b", "c", "d", "e", "f", "g", "h"];
const MEMBERS_PER_GROUP = 4;
const ITEMS = 1_200;
const RETRIED_SHARE = 0.2;
const NOW = new Date("2026-11-01T00:00:00Z");

/** What is in flight in the processes: from the end of a claim until its items are about to be settled. */
class Census {
  readonly held = new Map<string, number>();
  readonly peaks = new Map<string, number>();
  count(keys: string[], change: 1 | -1): void {
    for (const key of keys) {
      const next = (this.held.get(key) ?? 0) + change;
      this.held.set(key, next);
      this.peaks.set(key, Math.max(next, this.peaks.get(key) ?? 0));
    }
  }
}

const keysOf = (item: Item) => [item.groupId, `${item.groupId}/${item.memberId}`];

let rig: QueueRig;
beforeAll(async () => {
  rig = await startQueueRig();
});
afterAll(() => rig[Symbol.asyncDispose]());

it("[FAIR] caps are exact and no item is lost or doubled with 3 concurrent dispatchers and 2 producers", async () => {
  const pools = Array.from({ length: 3 }, (_, index) =>
    createPipelinePool({ url: rig.url, maxConnections: 2, applicationName: `dispatcher-${index}` }),
  );
  const census = new Census();
  const finished: string[] = [];
  const added: string[] = [];
  const overCap: unknown[] = [];
  let random = 12_345;
  const chance = () => {
    random = (random * 1_103_515_245 + 12_345) % 2 ** 31;
    return random / 2 ** 31;
  };

  async function produce(): Promise<void> {
    while (added.length < ITEMS) {
      const batch = Array.from({ length: 20 }, () => ({
        groupId: GROUPS[Math.floor(chance() * GROUPS.length)] as string,
        memberId: Math.floor(chance() * MEMBERS_PER_GROUP),
        dueAt: NOW,
      }));
      added.push(...(await rig.add(batch)));
    }
  }
  async function dispatch(pool: Pool): Promise<void> {
    const deadline = Date.now() + 20_000;
    while ((finished.length < added.length || added.length < ITEMS) && Date.now() < deadline) {
      const items = await rig.claim(NOW, { pool, maxGroups: 4 });
      for (const item of items) census.count(keysOf(item), 1);
      while (items.length > 0) {
        const part = items.splice(0, 1 + Math.floor(chance() * 6));
        for (const item of part) census.count(keysOf(item), -1);
        const settlements = part.map((item) =>
          chance() < RETRIED_SHARE ? { item, nextDue: NOW, failing: true } : { item, failing: false },
        );
        await rig.settle(settlements, NOW, pool);
        finished.push(...settlements.filter(({ nextDue }) => !nextDue).map(({ item }) => item.itemId));
      }
    }
  }
  async function inspect(): Promise<void> {
    while (finished.length < ITEMS) {
      overCap.push(
        ...(await rig.sql(
          "select group_id, count(*) from work.queue_item where lease_until is not null group by 1 having count(*) > 5",
        )),
        ...(await rig.sql(
          `select group_id, member_id, count(*) from work.queue_item where lease_until is not null
           group by 1, 2 having count(*) > 2`,
        )),
      );
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  await Promise.all([produce(), produce(), ...pools.flatMap((pool) => [dispatch(pool), dispatch(pool)]), inspect()]);
  for (const pool of pools) await pool.end();

  expect(overCap).toEqual([]);
  for (const [key, peak] of census.peaks) expect([key, peak <= (key.includes("/") ? 2 : 5)]).toEqual([key, true]);
  expect(Math.max(...census.peaks.values())).toBe(5);
  expect(finished.toSorted()).toEqual(added.toSorted());
  expect(await rig.sql("select * from work.queue_item")).toEqual([]);
  expect(await rig.sql("select * from work.queue_group where in_flight <> 0")).toEqual([]);
  expect(await rig.sql("select * from work.queue_member where in_flight <> 0")).toEqual([]);
});
