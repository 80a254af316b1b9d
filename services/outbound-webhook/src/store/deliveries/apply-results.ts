import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { lockGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import { settleParts } from "@toolgate/postgres/fair-queue/settle";
import type { Pool } from "@toolgate/postgres/pool";
import { FAILURES_TO_DEACTIVATE, type Outcome } from "../../domain/outcome.ts";
import { SCHEMA } from "../queue.ts";
import { cancelWaiting } from "./cancel-waiting.ts";

export interface AttemptRecord {
  deliveryId: string;
  workspaceId: string;
  number: number;
  startedAt: Date;
  /** The time in the signature that was sent; null when it is not known. */
  signedAt: Date | null;
  endedAt: Date;
  /** 0 when there was no response. */
  responseCode: number;
  durationMs: number;
  response: string;
  address: string;
  dnsMs: number;
  connectMs: number;
  tlsMs: number;
  firstByteMs: number;
  /** "cancelled": there was no attempt, the delivery is given up. */
  outcome: Outcome | "cancelled";
}

/**
 * Applies what became of attempts, in one transaction: deliveries, attempt log, endpoint counters, slots. A record
 * counts only while its delivery is at that attempt, in flight or waiting because its lease was taken for run out.
 * Then cancels what waits for the endpoints that were deactivated by it, or deleted meanwhile. Resolves with whether the
 * slots that are free now find work; what came in while it waited for the lock, and so later than `now`, counts.
 */
export type ApplyResults = (records: readonly AttemptRecord[], now: Date) => Promise<boolean>;

export function createApplyResults(pool: Pool, queue: FairQueue): ApplyResults {
  const text = applyText(queue);
  return async (records, now) => {
    const single = [...new Map(records.map((record) => [`${record.deliveryId} ${record.number}`, record])).values()];
    const statements = [
      lockGroups(SCHEMA, [...new Set(single.map((record) => record.workspaceId))]),
      { name: "apply_results", text, values: [...columns(single), now] },
    ];
    const [, applied] = await pipelined(pool, statements, { unlockEarly: true });
    const rows = applied?.rows ?? [];
    for (const { id, workspace_id } of rows) {
      if (id !== null) await cancelWaiting(pool, { endpointId: id, workspaceId: workspace_id }, now);
    }
    return rows.some((row) => row.id === null);
  };
}

function columns(records: readonly AttemptRecord[]): unknown[] {
  const outcomes = records.map(({ outcome }) => (outcome === "cancelled" ? undefined : outcome));
  return [
    records.map((record) => record.deliveryId),
    records.map((record) => record.number),
    outcomes.map((outcome) => outcome?.verdict ?? "cancelled"),
    outcomes.map((outcome) => outcome?.retryAt ?? null),
    outcomes.map((outcome) => outcome?.error ?? ""),
    records.map((record) => record.startedAt),
    records.map((record) => record.endedAt),
    records.map((record) => record.responseCode),
    records.map((record) => record.durationMs),
    records.map((record) => record.response),
    records.map((record) => record.address),
    records.map((record) => record.dnsMs),
    records.map((record) => record.connectMs),
    records.map((record) => record.tlsMs),
    records.map((record) => record.firstByteMs),
    FAILURES_TO_DEACTIVATE,
    records.map((record) => record.signedAt),
  ];
}

/**
 * An endpoint's finally failed deliveries count in the order in which they ended: `failed_first` are those before the
 * batch's first success, `failed_last` those after its last. They are worked out once and the endpoints found by them,
 * also by a plan that was made while there were few endpoints: else that is done for every endpoint of the installation.
 */
function applyText(queue: FairQueue): string {
  return `with input as (
  select * from unnest($1::uuid[], $2::integer[], $3::text[], $4::timestamptz[], $5::text[], $6::timestamptz[],
    $7::timestamptz[], $8::integer[], $9::integer[], $10::text[], $11::text[], $12::integer[], $13::integer[],
    $14::integer[], $15::integer[], $17::timestamptz[])
    as given (delivery_id, number, verdict, retry_at, error, started_at, ended_at, response_code, duration_ms, response,
      address, dns_ms, connect_ms, tls_ms, first_byte_ms, signed_at)
),
decided as materialized (
  select input.*, q.group_id, q.member_id, q.created_at, q.lease_until is not null as in_flight, d.kind,
    e.deleted_at is not null as endpoint_deleted,
    case when verdict <> 'failed' then verdict
      when retry_at is null or d.kind = 'test' then 'failed'
      when e.active and e.deleted_at is null then 'retrying'
      else 'cancelled' end as status
  from input
  join outbound_webhook.queue_item q on q.item_id = input.delivery_id and q.attempt = input.number
  left join outbound_webhook.delivery d on d.created_at = q.created_at and d.id = q.item_id
  left join outbound_webhook.endpoint e on e.id = q.member_id
),
logged as (
  insert into outbound_webhook.attempt (created_at, delivery_id, number, started_at, response_code, duration_ms, error,
    response, address, dns_ms, connect_ms, tls_ms, first_byte_ms, signed_at)
  select created_at, delivery_id, number, started_at, response_code, duration_ms, error, response, address, dns_ms,
    connect_ms, tls_ms, first_byte_ms, signed_at
  from decided where verdict <> 'cancelled' and kind is not null
  on conflict do nothing
),
written as (
  update outbound_webhook.delivery d set
    status = decided.status,
    attempts = case when verdict = 'cancelled' then d.attempts else decided.number end,
    response_code = case when verdict = 'cancelled' then d.response_code else decided.response_code end,
    duration_ms = case when verdict = 'cancelled' then d.duration_ms else decided.duration_ms end,
    error = case when verdict = 'cancelled' then d.error else decided.error end,
    next_attempt_at = case when decided.status = 'retrying' then decided.retry_at end,
    finished_at = case when decided.status <> 'retrying' then decided.ended_at end
  from decided where d.created_at = decided.created_at and d.id = decided.delivery_id
),
finals as materialized (
  select member_id, max(ended_at) as ended_at, bool_or(status = 'delivered') as any_delivered,
    count(*) filter (where status = 'failed' and delivered_before = 0) as failed_first,
    count(*) filter (where status = 'failed' and delivered_after = 0) as failed_last
  from (
    select member_id, status, ended_at,
      count(*) filter (where status = 'delivered')
        over (partition by member_id order by ended_at, delivery_id) as delivered_before,
      count(*) filter (where status = 'delivered')
        over (partition by member_id order by ended_at desc, delivery_id desc) as delivered_after
    from decided where status in ('delivered', 'failed') and kind <> 'test'
  ) ended
  group by member_id
),
counted as (
  update outbound_webhook.endpoint e set
    failures_in_a_row = case when any_delivered then failed_last else e.failures_in_a_row + failed_first end,
    active = e.failures_in_a_row + failed_first < $16::integer and failed_last < $16,
    deactivated_at = case when e.failures_in_a_row + failed_first < $16 and failed_last < $16 then null else ended_at end,
    notice_due_at = case when e.failures_in_a_row + failed_first < $16 and failed_last < $16
      then e.notice_due_at else ended_at end
  from finals
  where e.id = finals.member_id and e.id = any (array(select member_id from finals)) and e.active and e.deleted_at is null
    and (failed_first > 0 or failed_last > 0 or e.failures_in_a_row > 0)
  returning e.id, e.workspace_id, e.active
),
settled as materialized (
  select delivery_id as item_id, group_id, member_id, in_flight, number + 1 as next_attempt,
    case when status = 'retrying' then retry_at end as next_due,
    case when verdict <> 'cancelled' then verdict = 'failed' end as failing, ended_at as settled_at,
    $18::timestamptz as freed_at
  from decided
),
${settleParts(queue)}
select null as id, null as workspace_id where exists (select from groups_settled where ready_at <= $18::timestamptz + interval '1 second')
union all
select id, workspace_id from counted where not active
union
select member_id, group_id from decided where endpoint_deleted`;
}
