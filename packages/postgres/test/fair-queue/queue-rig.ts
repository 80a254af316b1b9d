import { randomUUID } from "node:crypto";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { addParts } from "../../src/fair-queue/add.ts";
import { type FairQueue, holdsSlot } from "../../src/fair-queue/caps.ts";
import { prepareClaim } from "../../src/fair-queue/claim.ts";
import { lockDueGroups, lockGroups, makeAndLockGroups } from "../../src/fair-queue/lock.ts";
import { createPipelinePool, pipelined } from "../../src/fair-queue/pipeline.ts";
import { expiredGroups, expireStatements, settleParts } from "../../src/fair-queue/settle.ts";
import { createPool, type Pool } from "../../src/pool.ts";
import { fairQueueTables } from "./tables.ts";

export interface Item {
  itemId: string;
  groupId: string;
  memberId: number;
  attempt: number;
  dueAt: Date;
  /** Within its member. */
  slot: number;
}

export interface NewItem {
  groupId: string;
  memberId: number;
  dueAt: Date;
}

interface Settlement {
  item: Item;
  /** Undefined: finished. */
  nextDue?: Date;
  failing?: boolean;
}

export const QUEUE: FairQueue = {
  tables: "work.queue",
  caps: { perGroup: 5, perMember: 2, failingPerGroup: 2 },
  turnMs: 20_000,
};

const LEASE_MS = 40_000;

/** A queue in its own database, with the operations that a service composes from the parts. */
export interface QueueRig extends AsyncDisposable {
  pool: Pool;
  url: string;
  add(items: NewItem[]): Promise<string[]>;
  claim(now: Date, options?: { maxGroups?: number; pool?: Pool }): Promise<Item[]>;
  settle(settlements: Settlement[], at: Date, pool?: Pool): Promise<void>;
  expire(now: Date): Promise<number>;
  /** Queries outside the pipeline. */
  sql(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
}

export async function startQueueRig(queue = QUEUE): Promise<QueueRig> {
  const database = await testDatabase();
  const plain = createPool({ url: database.url, maxConnections: 2, applicationName: "rig" });
  await plain.query("create schema work");
  await plain.query(fairQueueTables("work.queue"));
  if (queue.seriesLength) await plain.query("alter table work.queue_item add column holds_slot boolean default true");
  const own = createPipelinePool({ url: database.url, maxConnections: 4, applicationName: "rig-queue" });
  return {
    pool: own,
    url: database.url,
    add: (items) => add(own, queue, items),
    claim: (now, options = {}) => claim(options.pool ?? own, queue, now, options.maxGroups ?? 50),
    settle: (settlements, at, pool = own) => settle(pool, queue, settlements, at),
    async expire(now) {
      const [found] = await pipelined(own, [expiredGroups("work.queue", now, 100)]);
      const groups = found?.rows.map((row) => row.group_id) ?? [];
      const results = await pipelined(own, expireStatements(queue, groups, now, 100, now));
      return results.at(-1)?.rows[0].items;
    },
    sql: async (text, values) => (await plain.query(text, values)).rows,
    async [Symbol.asyncDispose]() {
      await own.end();
      await plain.end();
      await database[Symbol.asyncDispose]();
    },
  };
}

async function add(pool: Pool, queue: FairQueue, items: NewItem[]): Promise<string[]> {
  const ids = items.map(() => randomUUID());
  await pipelined(pool, [
    ...makeAndLockGroups("work.queue", [...new Set(items.map((item) => item.groupId))]),
    {
      name: "add",
      text: `with queued as (
  select * from unnest($1::uuid[], $2::text[], $3::bigint[], $4::timestamptz[], $4::timestamptz[])
    as given (item_id, group_id, member_id, due_at, created_at)
),
${addParts(queue)}
select 1`,
      values: [
        ids,
        items.map((item) => item.groupId),
        items.map((item) => item.memberId),
        items.map((item) => item.dueAt),
      ],
    },
  ]);
  return ids;
}

async function claim(pool: Pool, queue: FairQueue, now: Date, maxGroups: number): Promise<Item[]> {
  const leaseUntil = new Date(now.getTime() + LEASE_MS);
  const select = { name: "claim", text: "select * from claimed order by due_at, item_id" };
  const statements = [lockDueGroups(queue.tables, now, maxGroups), prepareClaim(queue, select)({ now, leaseUntil })];
  const [, claimed] = await pipelined(pool, statements);
  return (claimed?.rows ?? []).map((row) => ({
    itemId: row.item_id,
    groupId: row.group_id,
    memberId: row.member_id,
    attempt: row.attempt,
    dueAt: row.due_at,
    slot: Number(row.slot),
  }));
}

async function settle(pool: Pool, queue: FairQueue, settlements: Settlement[], at: Date): Promise<void> {
  const items = settlements.map((settlement) => settlement.item);
  await pipelined(pool, [
    lockGroups("work.queue", [...new Set(items.map((item) => item.groupId))]),
    {
      name: "settle",
      text: `with settled as materialized (
  select q.item_id, q.group_id, q.member_id, ${holdsSlot(queue)} as in_flight, q.attempt + 1 as next_attempt,
    given.next_due, given.failing, $5::timestamptz as settled_at
  from unnest($1::uuid[], $2::integer[], $3::timestamptz[], $4::boolean[]) as given (item_id, attempt, next_due, failing)
  join work.queue_item q on q.item_id = given.item_id and q.attempt = given.attempt and q.item_id = any($1)
),
${settleParts(queue)}
select 1`,
      values: [
        items.map((item) => item.itemId),
        items.map((item) => item.attempt),
        settlements.map((settlement) => settlement.nextDue ?? null),
        settlements.map((settlement) => settlement.failing ?? false),
        at,
      ],
    },
  ]);
}
