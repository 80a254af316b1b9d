import { randomUUID } from "node:crypto";
import { addParts } from "@toolgate/postgres/fair-queue/add";
import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { prepareClaim } from "@toolgate/postgres/fair-queue/claim";
import { lockGroups, makeAndLockGroups } from "@toolgate/postgres/fair-queue/lock";
import { createPipelinePool, pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import { settleParts } from "@toolgate/postgres/fair-queue/settle";
import { fairQueueTables } from "@toolgate/postgres/fair-queue/tables";
import { createPool } from "@toolgate/postgres/pool";
import { type Random, seededRandom } from "@toolgate/testbed/random";
import { testDatabase } from "@toolgate/testbed/test-database";
import { expect, test } from "vitest";
import { QueueModel, type Settlement } from "./queue-model.ts";
import type { Item } from "./queue-state.ts";

const QUEUE: FairQueue = {
  tables: "work.queue",
  caps: { perGroup: 5, maxBorrowed: 5, perMember: 2, suspectPerGroup: 2 },
  turnMs: 20_000,
  suspectAfterMs: 100,
  hangsAfterMs: 300,
};
const GROUPS = 6;
const MEMBERS = 4;
const STEPS = 150;
const START_MS = Date.UTC(2030, 0, 1);

test("[FAIR-2] [FAIR-3] the simulated queue claims what the queue in PostgreSQL claims, in the same order", async () => {
  await using real = await startRealQueue();
  const model = new QueueModel(QUEUE);
  const random = seededRandom(7);
  const below = (end: number) => Math.floor(random() * end);
  let inFlight: Item[] = [];
  let [nowMs, lastId, claimed, retried] = [START_MS, 0, 0, 0];
  for (let step = 0; step < STEPS; step += 1) {
    nowMs += 1 + below(step % 10 === 0 ? 8_000 : 60);
    const added = Array.from({ length: below(12) }, (): Item => {
      lastId += 1;
      // No two groups are due at the same time: the order among those is not defined.
      const dueMs = nowMs + (random() < 0.2 ? below(5_000) : 0);
      return { id: lastId, group: below(GROUPS), member: below(MEMBERS), attempt: 1, dueMs, eventMs: nowMs };
    });
    await real.add(added);
    model.add(added);
    const maxGroups = GROUPS;
    const expected = await real.claim(nowMs, maxGroups);
    const { items, groups } = model.claim(nowMs, maxGroups);
    expect([groups, items.map((item) => item.id).toSorted(byNumber)], `step ${step}`).toEqual([
      expected.groups,
      expected.ids.toSorted(byNumber),
    ]);
    claimed += items.length;
    inFlight.push(...items);
    nowMs += below(200);
    const ended = inFlight.filter(() => random() < 0.5);
    inFlight = inFlight.filter((item) => !ended.includes(item));
    const settlements = ended.map((item): Settlement => settlementOf(item, nowMs, random));
    retried += settlements.filter(({ nextDueMs }) => nextDueMs !== undefined).length;
    if (settlements.length === 0) continue;
    await real.settle(settlements, nowMs);
    model.settle(settlements, nowMs);
  }
  expect(claimed).toBeGreaterThan(STEPS);
  expect(retried).toBeGreaterThan(10);
});

/** The endpoint decides, so that some endpoints always fail and others never. */
function settlementOf(item: Item, nowMs: number, random: Random): Settlement {
  const failing = item.member === 0 && random() < 0.8;
  return { item, failing, nextDueMs: failing && random() < 0.5 ? nowMs + 1_000 + (item.id % 997) : undefined };
}

const byNumber = (a: number, b: number) => a - b;
const uuidOf = (id: number) => `00000000-0000-7000-8000-${String(id).padStart(12, "0")}`;
const idOf = (uuid: string) => Number(uuid.slice(-12));

/** The queue's SQL in a database of its own. */
async function startRealQueue() {
  await using resources = new AsyncDisposableStack();
  const database = resources.use(await testDatabase());
  const plain = createPool({ url: database.url, maxConnections: 1, applicationName: `rig-${randomUUID()}` });
  await plain.query("create schema work");
  await plain.query(fairQueueTables("work.queue"));
  await plain.query("alter table work.queue_group add column slot_at timestamptz not null default '-infinity'");
  await plain.end();
  const options = { url: database.url, maxConnections: 2, applicationName: "rig-queue" };
  const pool = resources.adopt(createPipelinePool(options), (owned) => owned.end());
  const claim = prepareClaim(QUEUE, { name: "claim", text: "select item_id from claimed" });
  const owned = resources.move();
  const groupsOf = (items: readonly Item[]) => [...new Set(items.map(({ group }) => `g${group}`))];
  const dates = (times: readonly (number | undefined)[]) => times.map((ms) => (ms === undefined ? null : new Date(ms)));
  return {
    async add(items: readonly Item[]) {
      if (items.length === 0) return;
      const text = `with queued as (
  select * from unnest($1::uuid[], $2::text[], $3::bigint[], $4::timestamptz[], $4::timestamptz[])
    as given (item_id, group_id, member_id, due_at, created_at)
),
${addParts(QUEUE)}
select 1`;
      const values = [
        items.map(({ id }) => uuidOf(id)),
        items.map(({ group }) => `g${group}`),
        items.map(({ member }) => member),
        dates(items.map(({ dueMs }) => dueMs)),
      ];
      await pipelined(pool, [...makeAndLockGroups(QUEUE.tables, groupsOf(items)), { name: "add", text, values }]);
    },
    async claim(nowMs: number, maxGroups: number) {
      const request = { now: new Date(nowMs), leaseUntil: new Date(nowMs + 3_600_000), maxGroups };
      const [locked, rows] = await pipelined(pool, claim(request));
      return { groups: locked?.rows[0].groups as number, ids: (rows?.rows ?? []).map((row) => idOf(row.item_id)) };
    },
    async settle(settlements: readonly Settlement[], nowMs: number) {
      const items = settlements.map(({ item }) => item);
      const text = `with settled as materialized (
  select q.item_id, q.group_id, q.member_id, true as in_flight, q.attempt + 1 as next_attempt,
    given.next_due, given.failing, given.place as settled_at, $4::timestamptz as freed_at
  from unnest($1::uuid[], $2::timestamptz[], $3::boolean[]) with ordinality as given (item_id, next_due, failing, place)
  join work.queue_item q on q.item_id = given.item_id
),
${settleParts(QUEUE)}
select 1`;
      const values = [
        items.map(({ id }) => uuidOf(id)),
        dates(settlements.map(({ nextDueMs }) => nextDueMs)),
        settlements.map(({ failing }) => failing ?? null),
        new Date(nowMs),
      ];
      await pipelined(pool, [lockGroups(QUEUE.tables, groupsOf(items)), { name: "settle", text, values }]);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
