import { type FairQueue, fullCaps } from "@toolgate/postgres/fair-queue/caps";
import type { Queryable } from "@toolgate/postgres/pool";
import { newTimedId } from "@toolgate/postgres/timed-id";
import { addDeliveries, copyEvents } from "../deliveries/add.ts";
import { type RangeEvent, readRange, sendable } from "./range.ts";
import type { OwnDelivery, ReplayedEvent, ReplayRow } from "./replay.ts";

/** At most this many rows are read by a step, while the workspace's queue is locked. */
const ROWS_PER_STEP = 100;
/** While this many deliveries of a replay wait for a retry, it makes no new ones. */
const MAX_RETRYING = 100;
/** How many deliveries of a replay may be due or in flight, as a multiple of the endpoint's slots. */
const DUE_PER_SLOT = 2;
/** A body older than this may expire before its delivery, so it is copied. */
const MAX_BODY_AGE_MS = 2 * 86_400_000;

/** Pause between two steps that find nothing to send, so that others can lock the workspace's queue. */
const SEARCH_WAIT_MS = 20;
const SLOTS_WAIT_MS = 100;
const RETRIES_WAIT_MS = 2_000;
const PAUSED_WAIT_MS = 5_000;
/** Counts the deliveries that have ended, and makes as many new ones as there is room for. Returns how many. */
export async function workOn(db: Queryable, queue: FairQueue, replay: ReplayRow, now: Date): Promise<number> {
  const own = Object.groupBy(replay.own, (delivery) => outcomeOf(delivery, replay));
  const { open = [], again = [], delivered = [], failed = [], cancelled = [] } = own;
  const due = open.filter(({ leased, dueAt }) => leased || (dueAt !== null && dueAt <= now)).length;
  const room = replay.state === "running" ? roomFor(due, open.length - due, replay, fullCaps(queue.caps).perMember) : 0;
  const repeated = again.slice(0, room);
  const reading = !replay.walked && room > repeated.length;
  const rows = reading ? await readRange(db, replay, ROWS_PER_STEP) : [];
  const taken = takeFor(room - repeated.length, rows);
  const wanted = taken.filter((row) => row.wanted);
  const events = await sendable(db, replay, [...repeated, ...wanted]);
  const made = events.map((event) => ({ ...event, id: newTimedId(now) }));
  const sentOfRange = wanted.filter(({ eventId }) => events.some((event) => event.eventId === eventId)).length;
  const left = [...open, ...again.slice(room), ...made];

  const last = taken.at(-1);
  const next = {
    ...replay,
    position: last?.at ?? replay.position,
    cursorId: last?.id ?? replay.cursorId,
    walked: replay.walked || (reading && rows.length < ROWS_PER_STEP && taken.length === rows.length),
    considered: replay.considered + wanted.length,
    skipped: replay.skipped + wanted.length - sentOfRange,
    sent: replay.sent + made.length,
    delivered: replay.delivered + delivered.length,
    failed: replay.failed + failed.length,
    cancelled: replay.cancelled + cancelled.length + repeated.length,
  };
  if (next.walked && !replay.walked) leaveOut(next);
  if (next.state === "running" && next.walked && left.length === 0) next.state = "done";
  if (next.state === "done" || next.state === "cancelled") next.finishedAt ??= now;
  const searching = reading && !next.walked;
  const waitMs = waitBeforeNext(next, { made: made.length, left: left.length, due, searching });
  const nextStepAt = waitMs === undefined ? null : new Date(now.getTime() + waitMs);
  const waiting = cancelled.filter(isWaiting).map(({ id }) => id);
  const openIds = left.map(({ id }) => id);
  await Promise.all([
    waiting.length > 0 && db.query({ name: "replay_cancel_waiting", text: CANCEL_WAITING, values: [waiting, now] }),
    makeDeliveries(db, queue, replay, made, now),
    save(db, next, openIds, nextStepAt),
  ]);
  return made.length;
}

const isWaiting = ({ dueAt, leased }: OwnDelivery) => dueAt !== null && !leased;

/** "again": it was cancelled because the endpoint was deactivated. */
function outcomeOf(
  delivery: OwnDelivery,
  { state, range }: ReplayRow,
): "open" | "again" | "delivered" | "failed" | "cancelled" {
  const { status } = delivery;
  if (state === "cancelled" && isWaiting(delivery)) return "cancelled";
  if (status === "delivered" || status === "failed") return status;
  if (status === "pending" || status === "retrying") return "open";
  const ended = state === "cancelled" || state === "done";
  return status === "cancelled" && !ended && (range.everything || delivery.undelivered) ? "again" : "cancelled";
}

/** How many deliveries may be made now. */
function roomFor(due: number, retrying: number, { ratePerSecond }: ReplayRow, slots: number): number {
  return Math.max(0, Math.min(DUE_PER_SLOT * slots - due, ratePerSecond - due, MAX_RETRYING - retrying));
}

/** The rows before the first one for which there is no room. */
function takeFor(room: number, rows: readonly RangeEvent[]): readonly RangeEvent[] {
  const next = rows.filter((row) => row.wanted)[room];
  return next ? rows.slice(0, rows.indexOf(next)) : rows;
}

/** Counts the events that were undelivered when the replay began and were no longer so when it came to them. */
function leaveOut(replay: ReplayRow): void {
  if (replay.range.everything || replay.moreAtStart) return;
  const leftOut = Math.max(0, replay.eventsAtStart - replay.considered);
  replay.considered += leftOut;
  replay.skipped += leftOut;
}

/** Undefined when there is nothing left to do. */
function waitBeforeNext(
  { state, ratePerSecond }: ReplayRow,
  step: { made: number; left: number; due: number; searching: boolean },
): number | undefined {
  if (state === "done" || (state === "cancelled" && step.left === 0)) return undefined;
  if (state === "cancelled") return RETRIES_WAIT_MS;
  if (state === "paused") return PAUSED_WAIT_MS;
  if (step.made > 0) return Math.floor((step.made * 1_000) / ratePerSecond);
  if (step.searching) return SEARCH_WAIT_MS;
  return step.due > 0 ? SLOTS_WAIT_MS : RETRIES_WAIT_MS;
}

const CANCEL_WAITING = `with cancelled as (
  delete from outbound_webhook.queue_item where item_id = any($1::uuid[]) and lease_until is null
  returning item_id, created_at
)
update outbound_webhook.delivery d
  set status = 'cancelled', next_attempt_at = null, finished_at = $2
from cancelled where d.created_at = cancelled.created_at and d.id = cancelled.item_id`;

/** Copies the bodies that may expire before their deliveries. */
async function makeDeliveries(
  db: Queryable,
  queue: FairQueue,
  replay: ReplayRow,
  made: readonly (ReplayedEvent & { id: string; bodyAt: Date })[],
  now: Date,
): Promise<void> {
  const isOld = ({ bodyAt }: { bodyAt: Date }) => now.getTime() - bodyAt.getTime() > MAX_BODY_AGE_MS;
  const deliveries = made.map((one) => (isOld(one) ? { ...one, bodyAt: now } : one));
  await Promise.all([
    copyEvents(db, made.filter(isOld), now),
    addDeliveries(db, queue, { ...replay, kind: "replay" }, deliveries, now),
  ]);
}

const SAVE = `update outbound_webhook.replay set cursor_at = $2, cursor_id = $3, walked = $4,
  state = $5, considered = $6, sent = $7, skipped = $8, delivered = $9, failed = $10, cancelled = $11,
  open_ids = $12, next_step_at = $13, finished_at = $14, cancelled_by = $15
where id = $1`;

async function save(db: Queryable, replay: ReplayRow, openIds: string[], nextStepAt: Date | null): Promise<void> {
  const { id, position, cursorId, walked, considered, sent, skipped, delivered, failed, cancelled } = replay;
  const state = replay.state === "paused" ? "running" : replay.state;
  const counts = [considered, sent, skipped, delivered, failed, cancelled];
  const end = [openIds, nextStepAt, replay.finishedAt, replay.cancelledBy];
  await db.query({
    name: "replay_save",
    text: SAVE,
    values: [id, position, cursorId, walked, state, ...counts, ...end],
  });
}
