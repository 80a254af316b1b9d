import { afterAll, beforeAll, expect, it } from "vitest";
import { fairQueueQuery, queueQuery } from "../../src/measure.ts";
import { type QueueRig, startQueueRig } from "./queue-rig.ts";

const MEMBERS = 200;
const WAITING = 100_000;

let rig: QueueRig;
beforeAll(async () => {
  rig = await startQueueRig();
  await rig.sql(`insert into work.queue_member (group_id, member_id, ready_at)
    select 'g', m, now() - interval '3 days' from generate_series(1, ${MEMBERS}) m`);
  // The oldest comes last, and every eleventh item is in flight.
  await rig.sql(`insert into work.queue_item (item_id, group_id, member_id, created_at, due_at, lease_until)
    select gen_random_uuid(), 'g', 1 + n % ${MEMBERS}, now(), now() - n * interval '1 second',
      case when n % 11 = 0 then now() end
    from generate_series(1, ${WAITING * 1.1}) n`);
  await rig.sql("create table work.outbox (id bigint primary key, at timestamptz not null)");
  await rig.sql("create index on work.outbox (at)");
  await rig.sql(
    `insert into work.outbox select n, now() - n * interval '1 second' from generate_series(1, ${WAITING}) n`,
  );
  await rig.sql("analyze");
});
afterAll(() => rig[Symbol.asyncDispose]());

const QUERIES = [
  { of: "a fair queue", query: fairQueueQuery("work.queue"), table: "work.queue_item", oldest: WAITING * 1.1 - 1 },
  { of: "a table", query: queueQuery("work.outbox", "at"), table: "work.outbox", oldest: WAITING },
];

it.each(QUERIES)(
  "of $of it tells the oldest of all due rows, counts up to 10,000, and scans nothing as a whole",
  async (given) => {
    const { query, table, oldest } = given;
    const measured = async () => (await rig.sql(query))[0] as { due: number; seconds: number };
    const { due, seconds } = await measured();
    expect(due).toBe(10_000);
    expect(seconds).toBeGreaterThanOrEqual(oldest);
    expect(seconds).toBeLessThan(oldest + 600);
    const [row] = await rig.sql(`explain (analyze, buffers, format json) ${query}`);
    const { Plan: plan } = (row as { "QUERY PLAN": [{ Plan: Plan }] })["QUERY PLAN"][0];
    expect(JSON.stringify(plan)).not.toMatch(/"Seq Scan"[^{}]*"Relation Name":"(queue_item|outbox)"/);
    // A scan of the items touches more than 100,000 rows; a count up to the limit touches 10,000.
    expect(rowsRead(plan)).toBeLessThan(15_000);

    const column = table === "work.outbox" ? "at" : "due_at";
    await rig.sql(`delete from ${table} where ${column} < now() - interval '1 hour'`);
    expect((await measured()).due).toBeGreaterThan(3_000);
    expect((await measured()).due).toBeLessThanOrEqual(3_600);
    await rig.sql(`delete from ${table}`);
    expect(await measured()).toEqual({ due: 0, seconds: 0 });
  },
);

interface Plan {
  "Node Type": string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  Plans?: Plan[];
}

/** The most rows that one scan of the plan read. */
function rowsRead(plan: Plan): number {
  const own = (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0)) * plan["Actual Loops"];
  return Math.max(own, ...(plan.Plans ?? []).map(rowsRead));
}
