import type { Queryable } from "@toolgate/postgres/pool";
import { newRandomId } from "@toolgate/postgres/random-id";
import type { DeliveryStatusName } from "../../domain/delivery-filter.ts";
import { type EndpointKey, lockWorkspace } from "../endpoint.ts";
import { IS_UNDELIVERED } from "../undelivered.ts";
import type { ReplayRange } from "./preview.ts";

export interface ReplayedEvent {
  eventId: string;
  eventType: string;
  eventAt: Date;
}

/** A delivery that a replay has made and not yet counted as ended. */
export interface OwnDelivery extends ReplayedEvent {
  id: string;
  /** Null: its partition was dropped. */
  status: DeliveryStatusName | null;
  /** Whether it leaves its event undelivered. */
  undelivered: boolean;
  /** Null when it is not in the queue. */
  dueAt: Date | null;
  leased: boolean;
}

export interface ReplayRow {
  id: number;
  workspaceId: string;
  endpointId: number;
  range: ReplayRange;
  ratePerSecond: number;
  /** "cancelled": also once its endpoint is deleted. */
  state: "running" | "paused" | "done" | "cancelled";
  eventsAtStart: number;
  moreAtStart: boolean;
  considered: number;
  sent: number;
  /** This and the next two without `own`. */
  delivered: number;
  failed: number;
  cancelled: number;
  skipped: number;
  own: OwnDelivery[];
  /** The last row of the range that was read: its time, and the id of the event or of its first delivery. */
  position: Date;
  cursorId: string;
  /** Whether the end of the range is reached. */
  walked: boolean;
  startedAt: Date;
  startedBy: string;
  finishedAt: Date | null;
  cancelledBy: string;
}

/** Finds a replay only in its own workspace. */
export interface ReplayKey {
  workspaceId: string;
  replayId: number;
}

type NewReplay = Pick<ReplayRow, "range" | "ratePerSecond" | "eventsAtStart" | "moreAtStart" | "startedBy">;

export type StartResult =
  | { replayId: number }
  | "no-such-endpoint"
  | "endpoint-inactive"
  | "endpoint-busy"
  | "workspace-busy";

export const MAX_RUNNING_PER_WORKSPACE = 5;

const START = `with target as (
  select e.active,
    exists (select from outbound_webhook.replay r where r.endpoint_id = e.id and r.state = 'running') as busy,
    (select count(*) from outbound_webhook.replay r
      join outbound_webhook.endpoint o on o.id = r.endpoint_id
      where o.workspace_id = $1 and o.deleted_at is null and r.state = 'running') as running
  from outbound_webhook.endpoint e
  where e.workspace_id = $1 and e.id = $2 and e.deleted_at is null
),
started as (
  insert into outbound_webhook.replay (id, workspace_id, endpoint_id, from_at, to_at, types, everything, rate_per_second,
    events_at_start, more_at_start, started_at, started_by, cursor_at, next_step_at)
  select $12, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $3, $10
  from target where active and not busy and running < ${MAX_RUNNING_PER_WORKSPACE}
  returning id
)
select target.active, target.busy, (select id from started) as "replayId" from target`;

/** Starts a replay, unless the endpoint or its workspace already has the maximum. Must be called in a transaction. */
export async function startReplay(
  db: Queryable,
  { workspaceId, endpointId }: EndpointKey,
  { range, ...replay }: NewReplay,
  now: Date,
): Promise<StartResult> {
  await lockWorkspace(db, workspaceId);
  const started = await db.query(START, [
    workspaceId,
    endpointId,
    range.from,
    range.to,
    range.types ?? null,
    range.everything,
    replay.ratePerSecond,
    replay.eventsAtStart,
    replay.moreAtStart,
    now,
    replay.startedBy,
    newRandomId(),
  ]);
  const [target] = started.rows;
  if (!target) return "no-such-endpoint";
  if (target.replayId !== null) return { replayId: target.replayId };
  if (!target.active) return "endpoint-inactive";
  return target.busy ? "endpoint-busy" : "workspace-busy";
}

/** Looks up each delivery separately: the limits keep the planner from reading whole tables. */
const SELECT = `select r.id, r.workspace_id as "workspaceId", r.endpoint_id as "endpointId", r.from_at as "from",
  r.to_at as "to", r.types, r.everything, r.rate_per_second as "ratePerSecond",
  case when r.state <> 'running' or e.active then r.state when e.deleted_at is null then 'paused' else 'cancelled' end as state,
  r.events_at_start as "eventsAtStart", r.more_at_start as "moreAtStart", r.considered, r.sent, r.delivered, r.failed,
  r.cancelled, r.skipped, r.cursor_at as position, r.cursor_id as "cursorId", r.walked, r.started_at as "startedAt",
  r.started_by as "startedBy", r.finished_at as "finishedAt", r.cancelled_by as "cancelledBy", own.deliveries as own
from outbound_webhook.replay r
join outbound_webhook.endpoint e on e.id = r.endpoint_id
cross join lateral (
  select coalesce(json_agg(json_build_object('id', made.id, 'status', d.status, 'eventId', d.event_id,
    'eventType', d.event_type, 'eventAt', d.event_at, 'undelivered', ${IS_UNDELIVERED}, 'dueAt', q.due_at,
    'leased', q.lease_until is not null) order by made.id), '[]') as deliveries
  from unnest(r.open_ids) as made (id)
  left join lateral (
    select * from outbound_webhook.delivery d
    where d.endpoint_id = r.endpoint_id and d.id = made.id and d.created_at >= r.started_at limit 1
  ) d on true
  left join lateral (select * from outbound_webhook.queue_item where item_id = made.id limit 1) q on true
) own`;

/** Undefined when the workspace has no such replay. */
export async function findReplay(db: Queryable, { workspaceId, replayId }: ReplayKey): Promise<ReplayRow | undefined> {
  const { rows } = await db.query(`${SELECT} where r.workspace_id = $1 and r.id = $2`, [workspaceId, replayId]);
  return rows.map(toReplay)[0];
}

/** Newest first. `before`: the id of a replay, to list those that started before it. */
export async function listReplays(
  db: Queryable,
  filter: { workspaceId: string; endpointId?: number; before?: number; limit: number },
): Promise<ReplayRow[]> {
  const { workspaceId, endpointId, before, limit } = filter;
  const ofEndpoint = endpointId === undefined ? "" : "and r.endpoint_id = $4";
  const { rows } = await db.query(
    `${SELECT}
     where r.workspace_id = $1 ${ofEndpoint}
       and ($2::bigint is null or (r.started_at, r.id) < (
         select p.started_at, p.id from outbound_webhook.replay p where p.workspace_id = $1 and p.id = $2))
     order by r.started_at desc, r.id desc limit $3`,
    [workspaceId, before ?? null, limit, ...(endpointId === undefined ? [] : [endpointId])],
  );
  return rows.map(toReplay);
}

// biome-ignore lint/suspicious/noExplicitAny: the shape is that of SELECT
function toReplay({ from, to, types, everything, own, ...row }: any): ReplayRow {
  const deliveries = own.map((delivery: { eventAt: string; dueAt: string | null }) => ({
    ...delivery,
    eventAt: new Date(delivery.eventAt),
    dueAt: delivery.dueAt && new Date(delivery.dueAt),
  }));
  return { ...row, range: { from, to, types: types ?? undefined, everything }, own: deliveries };
}
