import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import type { Queryable } from "@toolgate/postgres/pool";
import { newTimedId } from "@toolgate/postgres/timed-id";
import { addDeliveries, copyEvents } from "../deliveries/add.ts";
import type { ReplayJob } from "./job.ts";

/** A body older than this may expire before its delivery, so it is copied. */
const MAX_BODY_AGE_MS = 2 * 86_400_000;

/** An event that a replay sends. */
interface ReplayedEvent {
  eventId: string;
  eventType: string;
  /** The row with the latest copy of its body: an earlier resend or replay may have made one. */
  bodyAt: Date;
}

/** A delivery that the replay has made and not yet counted as ended. */
export interface OwnDelivery extends ReplayedEvent {
  id: string;
  /** Null: its partition was dropped. */
  status: "pending" | "retrying" | "delivered" | "failed" | "cancelled" | null;
  /** In the queue and not in flight. */
  waiting: boolean;
  /** Due now or in flight. */
  due: boolean;
  /** State of its event in `undelivered`. */
  eventState: "undelivered" | "sending" | "delivered" | null;
  /** How often its event was sent again; null when there is no such row. */
  sentAgain: number | null;
  hasBody: boolean;
}

/** Looks up each row separately: the limits keep the planner from reading whole tables. */
const READ = `select own.delivery_id as id, d.status, d.event_id as "eventId", d.event_type as "eventType",
  greatest(d.event_created_at, u.body_at) as "bodyAt", q.item_id is not null and q.lease_until is null as waiting,
  coalesce(q.lease_until is not null or q.due_at <= $3, false) as due, u.state as "eventState",
  u.sent_again as "sentAgain", event.id is not null as "hasBody"
from outbound_webhook.replay_delivery own
left join lateral (
  select * from outbound_webhook.delivery where created_at = own.created_at and id = own.delivery_id limit 1
) d on true
left join lateral (select * from outbound_webhook.queue_item where item_id = own.delivery_id limit 1) q on true
left join lateral (
  select state, body_at, sent_again from outbound_webhook.undelivered where endpoint_id = $2 and event_id = d.event_id limit 1
) u on true
left join lateral (
  select id from outbound_webhook.event where created_at = d.event_created_at and id = d.event_id limit 1
) event on true
where own.replay_id = $1
order by own.created_at, own.delivery_id`;

const CANCEL_WAITING = `with cancelled as (
  delete from outbound_webhook.queue_item where item_id = any($1::uuid[]) and lease_until is null
  returning item_id, created_at
)
update outbound_webhook.delivery d
  set status = 'cancelled', next_attempt_at = null, finished_at = $2
from cancelled where d.created_at = cancelled.created_at and d.id = cancelled.item_id`;

const REMEMBER = `insert into outbound_webhook.replay_delivery (replay_id, created_at, delivery_id)
select $1, $2, unnest($3::uuid[])`;

const FORGET = "delete from outbound_webhook.replay_delivery where replay_id = $1 and delivery_id = any($2::uuid[])";

export async function readOwnDeliveries(db: Queryable, replay: ReplayJob, now: Date): Promise<OwnDelivery[]> {
  const values = [replay.id, replay.endpointId, now];
  const { rows } = await db.query({ name: "replay_own_deliveries", text: READ, values });
  return rows;
}

export async function cancelDeliveries(db: Queryable, waiting: readonly OwnDelivery[], now: Date): Promise<void> {
  if (waiting.length === 0) return;
  await db.query({ name: "replay_cancel_waiting", text: CANCEL_WAITING, values: [waiting.map(({ id }) => id), now] });
}

/** Makes a delivery of each event, and copies the bodies that may expire before. */
export async function makeDeliveries(
  db: Queryable,
  queue: FairQueue,
  replay: ReplayJob,
  events: readonly ReplayedEvent[],
  now: Date,
): Promise<void> {
  if (events.length === 0) return;
  const oldest = new Date(now.getTime() - MAX_BODY_AGE_MS);
  const old = events.filter(({ bodyAt }) => bodyAt < oldest);
  const made = events.map((event) => ({
    ...event,
    id: newTimedId(now),
    bodyAt: event.bodyAt < oldest ? now : event.bodyAt,
  }));
  await Promise.all([
    copyEvents(db, old, now),
    addDeliveries(db, queue, { ...replay, kind: "replay" }, made, now),
    db.query({ name: "replay_remember", text: REMEMBER, values: [replay.id, now, made.map(({ id }) => id)] }),
  ]);
}

export async function forgetDeliveries(db: Queryable, { id }: ReplayJob, ended: readonly OwnDelivery[]): Promise<void> {
  if (ended.length === 0) return;
  await db.query({ name: "replay_forget", text: FORGET, values: [id, ended.map((delivery) => delivery.id)] });
}
