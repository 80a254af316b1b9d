import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { lockGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import { settleParts } from "@toolgate/postgres/fair-queue/settle";
import type { LaneStore } from "../queue.ts";

/** How the run of a claimed hook delivery ended. */
export interface RunRecord {
  deliveryId: string;
  createdAt: Date;
  workspaceId: string;
  claimId: string;
  /** The run's number; 0 if the delivery had expired. */
  number: number;
  /** `returned`: the target was not started, and the delivery is due again at `againAt`. */
  outcome: "succeeded" | "failed" | "returned";
  againAt: Date | null;
  /** The next number of claims for this run. */
  nextAttempt: number;
  durationMs: number;
  /** JSON text, redacted. */
  args: string;
  result: string;
  error: string;
  executionId: string;
}

/**
 * Writes how runs ended, and frees their slots, in one transaction, or fails (`isLockTimeout`) after this wait for the queue
 * of a workspace. A result counts even if the run was declared interrupted before, because it says what really happened; but
 * never for another run of the delivery. Resolves with whether more of one of the workspaces waits.
 */
export async function settleRuns(
  { pool, queue }: LaneStore,
  records: readonly RunRecord[],
  now: Date,
  lockTimeoutMs: number,
): Promise<boolean> {
  const { tables } = queue;
  const results = await pipelined(
    pool,
    [
      lockGroups(tables, [...new Set(records.map((record) => record.workspaceId))]),
      { name: `${tables}_settle`, text: settleText(queue), values: [JSON.stringify(records), now] },
    ],
    // A crash that undoes this leaves the runs leased, and they become interrupted.
    { unlockEarly: true, lockTimeoutMs },
  );
  return results.at(-1)?.rows[0].waiting === true;
}

/**
 * A plan that was made while the tables were empty reads a whole partition for every batch, unless each row is found by a
 * condition that does not come from a join.
 */
const IN_INPUT = "= any (array(select created_at from input))";

const settleText = (queue: FairQueue) => `with input as materialized (
  select "claimId" as claim_id, "deliveryId" as delivery_id, "createdAt" as created_at, number, outcome, "againAt" as again_at,
    "nextAttempt" as next_attempt, "durationMs" as duration_ms, args, result, error, "executionId" as execution_id
  from json_to_recordset($1::json) as given ("claimId" uuid, "deliveryId" uuid, "createdAt" timestamptz, number integer, outcome text,
    "againAt" timestamptz, "nextAttempt" integer, "durationMs" integer, args text, result text, error text,
    "executionId" text)
),
-- Records whose slot is still held for their run. A run that was returned before and claimed again has the same number.
held as materialized (
  select input.*, q.group_id, q.member_id
  from input
  join ${queue.tables}_item q on q.item_id = input.delivery_id and q.lease_until is not null
  left join inbound_hook.delivery d on d.created_at = input.created_at and d.id = input.delivery_id
    and d.created_at ${IN_INPUT}
  where (d.id is null or d.runs = input.number) and (input.outcome <> 'returned' or exists (
    select from inbound_hook.run r
    where r.created_at = input.created_at and r.delivery_id = input.delivery_id and r.claim_id = input.claim_id
  ))
),
runs_ended as (
  update inbound_hook.run r set status = input.outcome, duration_ms = input.duration_ms, args = input.args,
    result = input.result, error = input.error, execution_id = input.execution_id
  from input
  where input.outcome <> 'returned' and r.created_at = input.created_at and r.delivery_id = input.delivery_id
    and r.number = input.number and r.status in ('running', 'interrupted') and r.created_at ${IN_INPUT}
),
runs_undone as (
  delete from inbound_hook.run r using held
  where held.outcome = 'returned' and r.created_at = held.created_at and r.delivery_id = held.delivery_id
    and r.number = held.number
),
deliveries_written as (
  update inbound_hook.delivery d set
    status = case input.outcome when 'returned' then 'waiting' else input.outcome end,
    runs = case input.outcome when 'returned' then d.runs - 1 else d.runs end,
    duration_ms = input.duration_ms, error = input.error
  from input
  where d.created_at = input.created_at and d.id = input.delivery_id and d.runs = input.number
    and d.created_at ${IN_INPUT}
    and case input.outcome when 'returned' then d.id in (select delivery_id from held)
      else d.status in ('running', 'interrupted') end
),
settled as materialized (
  select delivery_id as item_id, group_id, member_id, true as in_flight, next_attempt, again_at as next_due,
    null::boolean as failing, $2::timestamptz as settled_at
  from held
),
${settleParts(queue)}
select bool_or(ready_at <= $2::timestamptz) as waiting from groups_settled`;
