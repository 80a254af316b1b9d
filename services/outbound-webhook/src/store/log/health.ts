import type { Queryable } from "@toolgate/postgres/pool";
import type { DeliveryStatusName } from "../../domain/delivery-filter.ts";
import type { Slots } from "../../domain/full-cap.ts";
import { SCHEMA } from "../queue.ts";
import { slotsOf } from "./read.ts";

/** Among so many of the newest deliveries of an endpoint, the last one that was tried is looked for. */
export const MAX_LOOKED_AT = 100;

/** How the last attempt of a delivery ended. */
export interface ResultRow {
  deliveryId: string;
  eventType: string;
  status: DeliveryStatusName;
  attempt: number;
  responseCode: number;
  durationMs: number;
  error: string;
  at: Date;
}

export interface HealthRow {
  endpointId: number;
  /** At least one more than the limit when there are more. */
  waiting: number;
  /** When the first of them is due; null when none is waiting. */
  firstDueAt: Date | null;
  slots: Slots;
  lastResult: ResultRow | null;
  lastFailure: ResultRow | null;
}

const QUEUED = `from ${SCHEMA}.queue_item where group_id = e.workspace_id and member_id = e.id`;

/**
 * How many deliveries wait for the endpoint `e` (`items`, at least `$3` when there are more), and when the first of them is
 * due. Those that are to follow another one in its slot wait as well.
 */
const WAITING = `select count(*)::integer as items, min(due_at) as first_due_at from (
    (select due_at ${QUEUED} and lease_until is null order by due_at, item_id limit $3)
    union all
    (select due_at ${QUEUED} and lease_until is not null and not holds_slot)
  ) first`;

const newestWith = (status: "failed" | "retrying") => `(
  select created_at, id, event_type, status, attempts, response_code, duration_ms, error from outbound_webhook.delivery
  where endpoint_id = e.id and indexed_status = '${status}' order by id desc limit 1)`;

/** The result of the delivery `d`; its attempt tells when it ended. */
const RESULT = `select json_build_object('deliveryId', d.id, 'eventType', d.event_type, 'status', d.status,
    'attempt', d.attempts, 'responseCode', d.response_code, 'durationMs', d.duration_ms, 'error', d.error,
    'at', coalesce((
      select a.started_at + a.duration_ms * interval '1 millisecond' from outbound_webhook.attempt a
      where a.created_at = d.created_at and a.delivery_id = d.id and a.number = d.attempts
    ), d.created_at)) as result`;

const HEALTH = `select e.id as "endpointId", waiting.items as waiting, waiting.first_due_at as "firstDueAt",
    ${slotsOf("e.workspace_id", "e.id")} as slots, last.result as "lastResult", failure.result as "lastFailure"
  from outbound_webhook.endpoint e
  cross join lateral (${WAITING}) waiting
  left join lateral (
    ${RESULT} from (
      select created_at, id, event_type, status, attempts, response_code, duration_ms, error
      from outbound_webhook.delivery where endpoint_id = e.id order by id desc limit $4
    ) d where d.attempts > 0 order by d.id desc limit 1
  ) last on true
  left join lateral (
    ${RESULT} from (${newestWith("failed")} union all ${newestWith("retrying")}) d order by d.id desc limit 1
  ) failure on true
  where e.workspace_id = $1 and e.id = any($2::bigint[]) and e.deleted_at is null`;

/**
 * How the deliveries to these endpoints go, with those that wait counted up to a limit. It reads a bounded number of rows of
 * each.
 */
export async function readHealth(
  db: Queryable,
  workspaceId: string,
  endpointIds: readonly number[],
  maxWaiting: number,
): Promise<Map<number, HealthRow>> {
  const { rows } = await db.query(HEALTH, [workspaceId, endpointIds, maxWaiting + 1, MAX_LOOKED_AT]);
  return new Map(
    rows.map((row) => [
      row.endpointId,
      { ...row, lastResult: resultOf(row.lastResult), lastFailure: resultOf(row.lastFailure) },
    ]),
  );
}

function resultOf(result: (Omit<ResultRow, "at"> & { at: string }) | null): ResultRow | null {
  return result && { ...result, at: new Date(result.at) };
}
