import type { Bus } from "@toolgate/event-bus/connect";
import type { Pool } from "@toolgate/postgres/pool";
import { eventually } from "@toolgate/testbed/eventually";
import { expect } from "vitest";
import type { LoadedCall } from "./calls.ts";
import { readLogs } from "./evidence.ts";
import { missingFromLogs } from "./tally.ts";

/** What is still on its way, and what went wrong on its way. */
const COUNTED = {
  outbox: "select count(*) from tool_runner.outbox",
  queued: "select count(*) from outbound_webhook.queue_item",
  inFlight: `select coalesce(sum(abs(in_flight)), 0) from (
    select in_flight from outbound_webhook.queue_group union all select in_flight from outbound_webhook.queue_member) as counts`,
  undelivered: "select count(*) from outbound_webhook.delivery where status <> 'delivered'",
  parked: "select count(*) from outbound_webhook.parked_message",
  hookCallsWaiting: "select count(*) from inbound_hook.delivery where status = 'waiting'",
  hookCallsRunning: "select count(*) from inbound_hook.delivery where status = 'running'",
  hookCallsQueued: "select count(*) from inbound_hook.tool_queue_item",
  hookRunsRunning: "select count(*) from inbound_hook.run where status = 'running'",
  hookRunsInFlight: `select coalesce(sum(abs(in_flight)), 0) from (
    select in_flight from inbound_hook.tool_queue_group union all select in_flight from inbound_hook.tool_queue_member) as counts`,
};

type Unsettled = Record<keyof typeof COUNTED | "onBroker", number>;

/** All zero once the installation has settled. */
export const SETTLED = Object.fromEntries([...Object.keys(COUNTED), "onBroker"].map((name) => [name, 0])) as Unsettled;
export const SETTLE_DEADLINE_MS = 120_000;

/**
 * Waits until the installation has settled and its logs have all calls; returns what is left in the end. `hasten` is called
 * after each look.
 */
export async function settle(
  { pool, bus }: { pool: Pool; bus: Bus },
  { calls, wipesMs = [] }: { calls: readonly LoadedCall[]; wipesMs?: readonly number[] },
  hasten: (pool: Pool, unsettled: Unsettled) => Promise<void> = async () => {},
): Promise<Unsettled> {
  const countOnBroker = createCountOnBroker(bus);
  const look = async () => {
    const unsettled = await readUnsettled(pool, countOnBroker);
    await hasten(pool, unsettled);
    expect(unsettled).toEqual(SETTLED);
    expect(missingFromLogs(calls, await readLogs(pool), wipesMs)).toEqual([]);
  };
  // The tests report what is left.
  await eventually(look, { deadlineMs: SETTLE_DEADLINE_MS, everyMs: 200 }).catch(() => {});
  return readUnsettled(pool, countOnBroker);
}

async function readUnsettled(pool: Pool, countOnBroker: CountOnBroker): Promise<Unsettled> {
  const counts = Object.entries(COUNTED).map(([name, count]) => `(${count})::int as "${name}"`);
  const { rows } = await pool.query(`select ${counts.join(", ")}`);
  return { ...rows[0], onBroker: await countOnBroker() };
}

type CountOnBroker = () => Promise<number>;

const NS_IN_MS = 1_000_000;

/**
 * Counts the messages that the broker has not delivered yet or whose acknowledgement it waits for. A broker that
 * crashed may wait forever for a message that it no longer has (2.9.10, one kill in a hundred): a message that is not
 * delivered again within two ack waits does not count.
 */
function createCountOnBroker({ jsm }: Bus): CountOnBroker {
  const handedOut = new Map<string, { deliveries: number; atMs: number }>();
  return async () => {
    let count = 0;
    for (const stream of ["EVENTS", "ATTEMPTS"]) {
      for await (const { name, config, delivered, num_pending, num_ack_pending } of jsm.consumers.list(stream)) {
        const last = handedOut.get(name);
        const isSame = last?.deliveries === delivered.consumer_seq;
        if (!isSame) handedOut.set(name, { deliveries: delivered.consumer_seq, atMs: performance.now() });
        const isSilent = isSame && performance.now() - last.atMs > (2 * (config.ack_wait ?? 0)) / NS_IN_MS;
        count += num_pending + (isSilent ? 0 : num_ack_pending);
      }
    }
    return count;
  };
}

/**
 * Makes everything due that is waiting only for its time. Leases of deliveries expire only when the broker is empty and
 * there are no calls, so that the processes that worked on them are certainly dead. A process renews the lease of a
 * hook's run every 5 s, and it then lasts 30 s: one that ends within 20 s was not renewed for 10 s, and expires now.
 */
export async function hurry(pool: Pool, { onBroker, hookCallsWaiting, hookCallsRunning }: Unsettled): Promise<void> {
  await makeRetriesDue(pool);
  await pool.query(
    `update tool_runner.outbox set publish_after = now()
     where publish_after > now() and publish_after < now() + interval '25 seconds'`,
  );
  if (onBroker === 0)
    await pool.query(
      `update outbound_webhook.queue_item set lease_until = now()
       where lease_until > now() and lease_until < now() + interval '40 seconds'`,
    );
  if (hookCallsWaiting === 0 && hookCallsRunning > 0)
    await pool.query(
      `update inbound_hook.tool_queue_item set lease_until = now()
       where lease_until > now() and lease_until < now() + interval '20 seconds'`,
    );
}

/** [OUT-45] Instead of waiting: makes all retries due now. */
export async function makeRetriesDue(pool: Pool): Promise<void> {
  await pool.query(
    `with item as (
       update outbound_webhook.queue_item set due_at = now()
       where lease_until is null and attempt > 1 and due_at > now() returning group_id, member_id
     ), member as (
       update outbound_webhook.queue_member m set ready_at = least(m.ready_at, now())
       from item where m.group_id = item.group_id and m.member_id = item.member_id
     )
     update outbound_webhook.queue_group g set ready_at = now() from item where g.group_id = item.group_id`,
  );
}
