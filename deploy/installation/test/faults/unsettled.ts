import type { Bus } from "@toolgate/event-bus/connect";
import type { Pool } from "@toolgate/postgres/pool";
import { readEvent } from "./evidence.ts";

/** What is still on its way; all zero once the installation has settled. */
export interface Unsettled {
  outbox: number;
  queued: number;
  groupsInFlight: number;
  membersInFlight: number;
  undelivered: number;
  parked: number;
  /** Events, attempts and results that the broker has not delivered yet, or whose acknowledgement it waits for. */
  onBroker: number;
}

export const SETTLED: Unsettled = {
  outbox: 0,
  queued: 0,
  groupsInFlight: 0,
  membersInFlight: 0,
  undelivered: 0,
  parked: 0,
  onBroker: 0,
};

export async function readUnsettled(pool: Pool, countOnBroker: CountOnBroker): Promise<Unsettled> {
  const { rows } = await pool.query(
    `select (select count(*)::int from tool_runner.outbox) as outbox,
       (select count(*)::int from outbound_webhook.queue_item) as queued,
       (select coalesce(sum(abs(in_flight)), 0)::int from outbound_webhook.queue_group) as "groupsInFlight",
       (select coalesce(sum(abs(in_flight)), 0)::int from outbound_webhook.queue_member) as "membersInFlight",
       (select count(*)::int from outbound_webhook.delivery where status <> 'delivered') as undelivered,
       (select count(*)::int from outbound_webhook.parked_message) as parked`,
  );
  return { ...rows[0], onBroker: await countOnBroker() };
}

export type CountOnBroker = () => Promise<number>;

const NS_IN_MS = 1_000_000;

/**
 * Counts the messages that the broker has not delivered yet or whose acknowledgement it waits for. A broker that
 * crashed may wait forever for a message that it no longer has (2.9.10, one kill in a hundred): a message that is not
 * delivered again within two ack waits does not count.
 */
export function createCountOnBroker({ jsm }: Bus): CountOnBroker {
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

/** Attempts that failed for another reason than a receiver's 500. */
export async function readLostAttempts(pool: Pool): Promise<{ delivery: string; error: string }[]> {
  const { rows } = await pool.query(
    `select delivery_id as delivery, error from outbound_webhook.attempt
     where response_code not between 200 and 299 and response_code <> 500 order by delivery_id, number`,
  );
  return rows;
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

/** Instead of waiting: publishes events again that were published a while ago and that the fan-out has not reported. */
export async function makeOutboxDue(pool: Pool): Promise<void> {
  await pool.query(
    `update tool_runner.outbox set publish_after = now()
     where publish_after > now() and publish_after < now() + interval '25 seconds'`,
  );
}

/**
 * [OUT-57] Instead of waiting: expires leases that are some seconds old. Only for use when there are no calls and the
 * broker is empty, so that the processes that were working on these deliveries are certainly dead.
 */
export async function endAbandonedLeases(pool: Pool): Promise<void> {
  await pool.query(
    `update outbound_webhook.queue_item set lease_until = now()
     where lease_until > now() and lease_until < now() + interval '40 seconds'`,
  );
}

/** A delivery that is not delivered, and what its row in the log says. */
export interface Undelivered {
  /** The number of the call that caused it. */
  n: number;
  status: string;
  attempts: number;
  error: string;
}

export async function readUndelivered(pool: Pool): Promise<Undelivered[]> {
  const { rows } = await pool.query(
    `select event.body, d.status, d.attempts, d.error from outbound_webhook.delivery d
     join outbound_webhook.event event on event.created_at = d.event_created_at and event.id = d.event_id
     where d.status <> 'delivered'`,
  );
  return rows.map(({ body, ...row }) => ({ ...row, n: readEvent(body).n }));
}
