import type { Queryable } from "@toolgate/postgres/pool";
import { firstIdAt } from "@toolgate/postgres/timed-id";
import { MAX_SENT_AGAIN } from "../../domain/sent-again.ts";
import type { ReplayJob } from "./job.ts";

/** An event in the range of a replay. */
export interface RangeEvent {
  at: Date;
  /** The event's id, or that of its first delivery. Together with `at`, a position in the range. */
  id: string;
  eventId: string;
  eventType: string;
  /** The row with the latest copy of its body. */
  bodyAt: Date;
  /** "skip": counted but not sent, because it was delivered or sent again since the replay began, or was sent too often. */
  use: "send" | "skip" | "ignore";
}

const UNDELIVERED = `select event_at as at, event_id as id, event_id as "eventId", event_type as "eventType",
  body_at as "bodyAt", state, met_inactive as "metInactive", left_at as "leftAt",
  sent_again as "sentAgain"
from outbound_webhook.undelivered
where endpoint_id = $1 and (event_at, event_id) > ($2::timestamptz, $3) and event_at < $4
order by event_at, event_id limit $5`;

/** In the order of the id, which begins with the time. */
const DELIVERIES = `select d.created_at as at, d.id, d.event_id as "eventId", d.event_type as "eventType",
  greatest(d.event_created_at, u.body_at) as "bodyAt", d.kind, d.status, u.sent_again as "sentAgain"
from (
  select * from outbound_webhook.delivery where endpoint_id = $1 and id > $2 and id < $3 order by id limit $4
) d
left join lateral (
  select body_at, sent_again from outbound_webhook.undelivered where endpoint_id = $1 and event_id = d.event_id limit 1
) u on true
order by d.id`;

/**
 * The next rows of a replay's range, in order: those of `undelivered`, or for a replay of everything the first deliveries
 * and, after those of the same time, the events that met an inactive endpoint.
 */
export async function readRange(db: Queryable, replay: ReplayJob, limit: number): Promise<RangeEvent[]> {
  if (!replay.everything) return readUndelivered(db, replay, limit);
  const [deliveries, undelivered] = await Promise.all([
    readDeliveries(db, replay, limit),
    readUndelivered(db, replay, limit),
  ]);
  return [...deliveries, ...undelivered].sort((a, b) => a.at.getTime() - b.at.getTime()).slice(0, limit);
}

async function readUndelivered(db: Queryable, replay: ReplayJob, limit: number): Promise<RangeEvent[]> {
  const { endpointId, cursorAt, cursorId, to, startedAt, everything } = replay;
  const values = [endpointId, cursorAt, isEventId(cursorId) ? cursorId : "", to, limit];
  const { rows } = await db.query({ name: "replay_undelivered", text: UNDELIVERED, values });
  return rows.map(({ state, metInactive, leftAt, sentAgain, ...row }) => {
    let use: RangeEvent["use"] = "ignore";
    if (isWantedType(replay, row.eventType)) {
      if (everything && metInactive) use = state === "sending" ? "skip" : "send";
      else if (!everything && state === "undelivered") use = "send";
      else if (!everything && leftAt >= startedAt) use = "skip";
    }
    return { ...row, use: unlessTooOften(use, sentAgain) };
  });
}

async function readDeliveries(db: Queryable, replay: ReplayJob, limit: number): Promise<RangeEvent[]> {
  const { endpointId, to } = replay;
  const values = [endpointId, lastDeliveryId(replay), firstIdAt(to), limit];
  const { rows } = await db.query({ name: "replay_deliveries", text: DELIVERIES, values });
  return rows.map(({ kind, status, sentAgain, ...row }) => {
    const wanted = kind === "event" && isWantedType(replay, row.eventType);
    const isOpen = status === "pending" || status === "retrying";
    return { ...row, use: wanted ? (isOpen ? "skip" : unlessTooOften("send", sentAgain)) : "ignore" };
  });
}

/** `sentAgain` is null for an event that never went wrong and was never sent again. */
function unlessTooOften(use: RangeEvent["use"], sentAgain: number | null): RangeEvent["use"] {
  return use === "send" && (sentAgain ?? 0) >= MAX_SENT_AGAIN ? "skip" : use;
}

/** Deliveries up to this id have been read: all deliveries of the cursor's time come before its events. */
function lastDeliveryId({ cursorAt, cursorId }: ReplayJob): string {
  if (isEventId(cursorId)) return firstIdAt(new Date(cursorAt.getTime() + 1));
  return cursorId === "" ? firstIdAt(cursorAt) : cursorId;
}

const isEventId = (id: string) => id.startsWith("evt");
const isWantedType = ({ types }: ReplayJob, type: string) => types === null || types.includes(type);
