import { prepareClaim } from "@toolgate/postgres/fair-queue/claim";
import { lockDueGroups } from "@toolgate/postgres/fair-queue/lock";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import type { TraceContext } from "@toolgate/telemetry/trace";
import type { ArgumentSource } from "../../domain/arguments/mapping.ts";
import type { LaneStore } from "../queue.ts";

/** A hook delivery whose target may be started now, with everything that the start needs. */
export interface ClaimedDelivery {
  claimId: string;
  deliveryId: string;
  /** When the call was received. */
  createdAt: Date;
  workspaceId: string;
  /** How often it was claimed for this run. */
  attempt: number;
  /** Undefined when the delivery has expired while it waited. */
  run: ClaimedRun | undefined;
}

export interface ClaimedRun {
  /** 1 for the first run of the delivery. */
  number: number;
  /** [IN-60] hook_<hook id>_<time>_<random>; the same whenever this run is claimed. */
  chatId: string;
  hook: {
    id: number;
    name: string;
    /** The workspace's code. */
    workspace: string;
    target: string;
    arguments: ArgumentSource;
    deleted: boolean;
  };
  externalId: string | null;
  body: Buffer;
  contentType: string;
  requestId: string;
  /** Of the call. */
  trace: TraceContext;
}

/** What a claim leaves in the database. */
export interface ClaimIdentity {
  /** A UUID of this claim alone. */
  claimId: string;
  leaseUntil: Date;
}

const RUN_PARTS = `,
started as (
  update inbound_hook.delivery d set status = 'running', runs = d.runs + 1, duration_ms = 0, error = ''
  from claimed where d.created_at = claimed.created_at and d.id = claimed.item_id
  returning d.created_at, d.id, d.hook_id, d.external_id, d.body, d.content_type, d.request_id, d.traceparent, d.tracestate, d.runs,
    d.requested_by,
    'hook_' || d.hook_id || '_' || floor(extract(epoch from d.created_at))::bigint || '_'
      || left(md5(d.id::text || ' ' || d.runs), 12) as chat_id
),
runs_started as (
  insert into inbound_hook.run (created_at, delivery_id, number, status, started_at, chat_id, requested_by, claim_id)
  select started.created_at, started.id, started.runs, 'running', $1,
    case when h.target_kind = 'assistant' then started.chat_id else '' end, started.requested_by, $3::uuid
  from started left join inbound_hook.hook h on h.id = started.hook_id
)
select claimed.item_id as "deliveryId", claimed.created_at as "createdAt", claimed.group_id as "workspaceId",
  claimed.attempt, started.runs as number, started.chat_id as "chatId", started.external_id as "externalId",
  started.body, started.content_type as "contentType", started.request_id as "requestId",
  json_build_object('traceparent', started.traceparent, 'tracestate', started.tracestate) as trace,
  json_build_object('id', h.id, 'name', h.name, 'workspace', h.workspace, 'target', h.target_name,
    'arguments', json_build_object('from', h.args_from, 'pointers', h.pointers),
    'deleted', h.id is null or h.deleted_at is not null) as hook
from claimed
left join started on started.created_at = claimed.created_at and started.id = claimed.item_id
left join inbound_hook.hook h on h.id = started.hook_id
order by claimed.due_at, claimed.item_id`;

/**
 * Claims due deliveries of a lane, at most `maxGroups` times the cap. Each becomes a run that is "running" until
 * `leaseUntil`. All of that is on disk when this resolves, so whatever happens next, every run is in the log. `full`: more
 * may be due.
 */
export async function claimDeliveries(
  { pool, queue }: LaneStore,
  { claimId, now, leaseUntil, maxGroups }: ClaimIdentity & { now: Date; maxGroups: number },
): Promise<{ deliveries: ClaimedDelivery[]; full: boolean }> {
  const claim = prepareClaim(queue, { name: `${queue.tables}_claim`, text: RUN_PARTS });
  const statements = [lockDueGroups(queue.tables, now, maxGroups), claim({ now, leaseUntil, values: [claimId] })];
  // Other claims need not wait for the disk; only the start of the targets does.
  const [locked, claimed] = await pipelined(pool, statements, { unlockEarly: true });
  const deliveries = (claimed?.rows ?? []).map((row) => toDelivery(claimId, row));
  const groups: number = locked?.rows[0].groups ?? 0;
  // A claim that finds nothing has still updated the due times of the groups it locked: others may be due behind them.
  return { deliveries, full: groups === maxGroups || (groups > 0 && deliveries.length === 0) };
}

// biome-ignore lint/suspicious/noExplicitAny: a row of the statement above
function toDelivery(claimId: string, row: any): ClaimedDelivery {
  const { deliveryId, createdAt, workspaceId, attempt, ...run } = row;
  return { claimId, deliveryId, createdAt, workspaceId, attempt, run: run.number === null ? undefined : run };
}
