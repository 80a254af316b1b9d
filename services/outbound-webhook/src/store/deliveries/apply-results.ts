import type { AttemptResult } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import { type FairQueue, holdsSlot } from "@toolgate/postgres/fair-queue/caps";
import { lockGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import { settleParts } from "@toolgate/postgres/fair-queue/settle";
import type { Pool } from "@toolgate/postgres/pool";
import { FAILURES_TO_DEACTIVATE, type Outcome, SLOW_ATTEMPT_MS } from "../../domain/outcome.ts";
import { QUEUE_TABLES } from "../queue.ts";

/** What the log keeps of an attempt; the response code is 0 when there was no response. */
export type LoggedResult = Pick<
  AttemptResult,
  "number" | "responseCode" | "durationMs" | "response" | "address" | "dnsMs" | "connectMs" | "tlsMs" | "firstByteMs"
>;

export type RecordKey = Pick<AttemptResult, "deliveryId" | "workspaceId" | "number">;

export interface AttemptRecord extends RecordKey, LoggedResult, Outcome {
  startedAt: Date;
  /** The time in the signature that was sent. */
  signedAt: Date;
  endedAt: Date;
}

/** Ends a claimed delivery without an attempt. */
export interface CancelRecord extends RecordKey {
  verdict: "cancelled";
  endedAt: Date;
}

/** Returns a claimed delivery to the queue without an attempt, unless it has another lease by now. */
export interface ReturnRecord extends RecordKey {
  verdict: "returned";
  leaseUntil: Date;
  /** The delivery waits until then, and its endpoint counts as failing. Undefined: it is due now. */
  retryAt?: Date;
}

export type DeliveryRecord = AttemptRecord | CancelRecord | ReturnRecord;

/**
 * Applies the results of attempts in one transaction: deliveries, attempt log, endpoint counters, slots. Fails
 * (`isLockTimeout`) after this wait for the queue of a workspace. A record is ignored unless its delivery still has that
 * attempt number, in flight or waiting again because its lease has expired. Marks endpoints that this batch deactivated, or
 * that were deleted meanwhile, so that the deliveries waiting for them are cancelled (`cancelSome`). Resolves with whether
 * it has marked one, and whether there may be work for the freed slots, including work that was added while this waited for
 * the lock.
 */
export async function applyResults(
  pool: Pool,
  queue: FairQueue,
  records: readonly DeliveryRecord[],
  now: Date,
  lockTimeoutMs: number,
): Promise<{ marked: boolean; due: boolean }> {
  const single = [...new Map(records.map((record) => [`${record.deliveryId} ${record.number}`, record])).values()];
  const values = [JSON.stringify(single), now, FAILURES_TO_DEACTIVATE];
  const statements = [
    lockGroups(QUEUE_TABLES, [...new Set(single.map((record) => record.workspaceId))]),
    { name: "apply_results", text: applyText(queue), values },
  ];
  const [, applied] = await pipelined(pool, statements, { unlockEarly: true, lockTimeoutMs });
  return applied?.rows[0] ?? { marked: false, due: false };
}

/** One statement, so that a batch takes one round trip. */
function applyText(queue: FairQueue): string {
  return `with input as (
  select "deliveryId" as delivery_id, number, verdict, error, "retryAt" as retry_at, "startedAt" as started_at,
    "signedAt" as signed_at, "endedAt" as ended_at, "responseCode" as response_code, "durationMs" as duration_ms, response,
    address, "dnsMs" as dns_ms, "connectMs" as connect_ms, "tlsMs" as tls_ms, "firstByteMs" as first_byte_ms,
    "leaseUntil" as lease_until
  from json_to_recordset($1::json) as given ("deliveryId" uuid, number integer, verdict text, error text,
    "retryAt" timestamptz, "startedAt" timestamptz, "signedAt" timestamptz, "endedAt" timestamptz,
    "responseCode" integer, "durationMs" integer, response text, address text, "dnsMs" integer, "connectMs" integer,
    "tlsMs" integer, "firstByteMs" integer, "leaseUntil" timestamptz)
),

-- The new state of each record's delivery, without the records that do not count. "= any" and "offset 0", here and below, make
-- every plan look up rows by their keys, even a plan that was made while a table was small.
decided as materialized (
  select input.*, q.group_id, q.member_id, q.created_at, q.due_at, ${holdsSlot(queue)} as in_flight, d.kind,
    e.deleted_at is not null as endpoint_deleted, e.active and e.deleted_at is null as endpoint_active,
    e.failures_in_a_row,
    case when verdict <> 'failed' then verdict
      when retry_at is null or d.kind = 'test' then 'failed'
      when e.active and e.deleted_at is null then 'retrying'
      else 'cancelled' end as status
  from input
  join outbound_webhook.queue_item q on q.item_id = input.delivery_id and q.attempt = input.number
    and q.item_id = any (array(select delivery_id from input))
    and (verdict <> 'returned' or q.lease_until = input.lease_until)
  left join lateral (
    select created_at, id, kind from outbound_webhook.delivery where created_at = q.created_at and id = q.item_id offset 0
  ) d on true
  left join outbound_webhook.endpoint e on e.id = q.member_id
),
attempts_logged as (
  insert into outbound_webhook.attempt (created_at, delivery_id, number, started_at, response_code, duration_ms, error,
    response, address, dns_ms, connect_ms, tls_ms, first_byte_ms, signed_at)
  select created_at, delivery_id, number, started_at, response_code, duration_ms, error, response, address, dns_ms,
    connect_ms, tls_ms, first_byte_ms, signed_at
  from decided where verdict in ('delivered', 'failed') and kind is not null
  on conflict do nothing
),
deliveries_written as (
  update outbound_webhook.delivery d set
    status = decided.status,
    attempts = case when verdict = 'cancelled' then d.attempts else decided.number end,
    response_code = coalesce(decided.response_code, d.response_code),
    duration_ms = coalesce(decided.duration_ms, d.duration_ms),
    error = coalesce(decided.error, d.error),
    next_attempt_at = case when decided.status = 'retrying' then decided.retry_at end,
    finished_at = case when decided.status <> 'retrying' then decided.ended_at end
  from decided where verdict <> 'returned' and d.created_at = decided.created_at and d.id = decided.delivery_id
    and d.created_at = any (array(select created_at from decided)) and d.id = any (array(select delivery_id from decided))
),

-- Final failures count in the order in which they ended: those before the batch's first success add to the endpoint's
-- count, those after its last success start again from 0.
ended as (
  select member_id, status, ended_at, failures_in_a_row,
    count(*) filter (where status = 'delivered')
      over (partition by member_id order by ended_at, delivery_id) as successes_before,
    count(*) filter (where status = 'delivered')
      over (partition by member_id order by ended_at desc, delivery_id desc) as successes_after
  from decided
  where status in ('delivered', 'failed') and kind <> 'test' and endpoint_active
),
counts as (
  select member_id, max(ended_at) as ended_at, bool_or(status = 'delivered') as any_success,
    max(failures_in_a_row) + count(*) filter (where status = 'failed' and successes_before = 0) as continued,
    count(*) filter (where status = 'failed' and successes_after = 0) as new
  from ended
  group by member_id
  having bool_or(status = 'failed') or max(failures_in_a_row) > 0
),
counters as materialized (
  select member_id, ended_at, case when any_success then new else continued end as failures,
    continued >= $3::integer or new >= $3 as deactivated
  from counts
),
endpoints_written as (
  update outbound_webhook.endpoint e set
    failures_in_a_row = counters.failures,
    active = not deactivated,
    deactivated_at = case when deactivated then ended_at end,
    notice_due_at = case when deactivated then ended_at else e.notice_due_at end,
    cancel_until = case when deactivated then $2 else e.cancel_until end
  from counters
  where e.id = counters.member_id and e.id = any (array(select member_id from counters))
  returning e.active
),
-- So that the queue forgets them after their last delivery.
deleted_marked as (
  update outbound_webhook.endpoint e set cancel_until = $2
  where e.id = any (array(select member_id from decided where endpoint_deleted)) and e.cancel_until is null
  returning e.id
),

settled as materialized (
  select delivery_id as item_id, group_id, member_id, in_flight,
    case when verdict = 'returned' then number else number + 1 end as next_attempt,
    case when status = 'retrying' then retry_at when verdict = 'returned' then coalesce(retry_at, due_at) end as next_due,
    case verdict when 'cancelled' then null when 'returned' then case when retry_at is not null then true end
      else verdict = 'failed' or duration_ms > ${SLOW_ATTEMPT_MS} end as failing,
    coalesce(ended_at, due_at) as settled_at
  from decided
),
${settleParts(queue)}

select exists (select from groups_settled where ready_at <= $2::timestamptz + interval '1 second') as due,
  exists (select from endpoints_written where not active) or exists (select from deleted_marked) as marked`;
}
