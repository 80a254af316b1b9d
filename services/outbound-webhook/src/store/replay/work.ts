import { type FairQueue, fullCaps } from "@toolgate/postgres/fair-queue/caps";
import type { Queryable } from "@toolgate/postgres/pool";
import { MAX_SENT_AGAIN } from "../../domain/sent-again.ts";
import { lockWorkspace } from "../endpoint.ts";
import { endpointOf, type ReplayJob, saveReplay } from "./job.ts";
import {
  cancelDeliveries,
  forgetDeliveries,
  makeDeliveries,
  type OwnDelivery,
  readOwnDeliveries,
} from "./own-deliveries.ts";
import { type RangeEvent, readRange } from "./range.ts";

/** Rows that a step reads first to find the next one to send, which is often the first. */
const ROWS_PER_LOOK = 20;
/** At most this many rows are skipped by a step before it locks the workspace's queue. */
const ROWS_PER_PASS = 1_000;
/** At most this many rows are read by a step under that lock. */
const ROWS_PER_STEP = 100;
/** While this many deliveries of a replay wait for a retry, it makes no new ones. */
const MAX_RETRYING = 100;
/** How many deliveries of a replay may be due or in flight, as a multiple of the endpoint's slots. */
const DUE_PER_SLOT = 2;

/** Pause between two steps that find nothing to send, so that others can lock the workspace's queue. */
const SEARCH_WAIT_MS = 20;
const SLOTS_WAIT_MS = 100;
const RETRIES_WAIT_MS = 2_000;
const PAUSED_WAIT_MS = 5_000;

/** Takes one step of a locked replay. */
export async function takeStep(
  db: Queryable,
  queue: FairQueue,
  replay: ReplayJob,
  now: Date,
): Promise<{ locked: boolean; made: number }> {
  if (await passOver(db, replay)) {
    replay.nextStepAt = new Date(now.getTime() + SEARCH_WAIT_MS);
    await saveReplay(db, replay);
    return { locked: false, made: 0 };
  }
  return { locked: true, made: await workUnderLock(db, queue, replay, now) };
}

/**
 * Skips the rows before the first one to send, without locking the workspace's queue, so that live deliveries do not
 * wait. Returns whether there may be more of them.
 */
async function passOver(db: Queryable, replay: ReplayJob): Promise<boolean> {
  if (replay.state !== "running" || replay.walked || !(await endpointOf(db, replay)).active) return false;
  for (const limit of [ROWS_PER_LOOK, ROWS_PER_PASS]) {
    const rows = await readRange(db, replay, limit);
    const first = rows.findIndex((row) => row.use === "send");
    const passed = first === -1 ? rows : rows.slice(0, first);
    moveOn(replay, passed);
    if (passed.length < limit) return false;
  }
  return true;
}

/**
 * Counts the deliveries that have ended, and makes as many new ones as there is room for. Returns how many. The
 * workspace's queue is locked until the transaction ends, so independent statements are sent together: two round
 * trips, and one for the commit.
 */
export async function workUnderLock(db: Queryable, queue: FairQueue, replay: ReplayJob, now: Date): Promise<number> {
  // The lock comes first, so that the others see what was there when it was taken.
  const [, endpoint, ownDeliveries, nextRows] = await Promise.all([
    lockWorkspace(db, replay.workspaceId),
    endpointOf(db, replay),
    readOwnDeliveries(db, replay, now),
    replay.state === "running" && !replay.walked ? readRange(db, replay, ROWS_PER_STEP) : [],
  ]);
  if (endpoint.deleted && replay.state === "running") replay.state = "cancelled";

  const own = Object.groupBy(ownDeliveries, (delivery) => replayOutcomeOf(delivery, replay));
  const { open = [], again = [], delivered = [], failed = [], cancelled = [] } = own;
  const waiting = cancelled.filter((delivery) => delivery.waiting);
  const room =
    replay.state === "running" && endpoint.active ? roomFor(open, replay, fullCaps(queue.caps).perMember) : 0;
  const repeated = again.slice(0, room);
  const reading = !replay.walked && room > repeated.length;
  const rows = reading ? nextRows : [];
  const taken = takeFor(room - repeated.length, rows);
  const events = [...repeated, ...taken.filter((row) => row.use === "send")];

  moveOn(replay, taken);
  replay.sent += events.length;
  replay.delivered += delivered.length;
  replay.failed += failed.length;
  replay.cancelled += cancelled.length + repeated.length;
  replay.walked ||= reading && rows.length < ROWS_PER_STEP && taken.length === rows.length;
  const left = events.length + open.length + again.length - repeated.length;
  if (replay.state === "running" && replay.walked && left === 0) replay.state = "done";
  if (replay.state !== "running") replay.finishedAt ??= now;
  const waitMs = waitBeforeNext(replay, {
    active: endpoint.active,
    made: events.length,
    left,
    anyDue: open.some((delivery) => delivery.due),
    searching: reading && !replay.walked,
  });
  replay.nextStepAt = waitMs === undefined ? null : new Date(now.getTime() + waitMs);
  await Promise.all([
    cancelDeliveries(db, waiting, now),
    makeDeliveries(db, queue, replay, events, now),
    forgetDeliveries(db, replay, [...delivered, ...failed, ...cancelled, ...repeated]),
    saveReplay(db, replay),
  ]);
  return events.length;
}

/** The state of one of the replay's deliveries. "again": it was cancelled because the endpoint was deactivated. */
function replayOutcomeOf(
  { status, waiting, hasBody, eventState, sentAgain }: OwnDelivery,
  { state, everything }: ReplayJob,
): "open" | "again" | "delivered" | "failed" | "cancelled" {
  if (waiting && state === "cancelled") return "cancelled";
  if (status === "delivered" || status === "failed") return status;
  if (status === "pending" || status === "retrying") return "open";
  const mayBeSent = hasBody && (sentAgain ?? 0) < MAX_SENT_AGAIN;
  const stillWanted = mayBeSent && (everything || eventState === "undelivered");
  return status === "cancelled" && state === "running" && stillWanted ? "again" : "cancelled";
}

/** How many deliveries may be made now. */
function roomFor(open: readonly OwnDelivery[], { ratePerSecond }: ReplayJob, slots: number): number {
  const maxDue = Math.min(DUE_PER_SLOT * slots, ratePerSecond);
  const due = open.filter((delivery) => delivery.due).length;
  return Math.max(0, Math.min(maxDue - due, MAX_RETRYING - (open.length - due)));
}

/** The rows before the first one for which there is no room. */
function takeFor(room: number, rows: readonly RangeEvent[]): RangeEvent[] {
  const toSend = rows.filter((row) => row.use === "send");
  const next = toSend[room];
  return next ? rows.slice(0, rows.indexOf(next)) : [...rows];
}

/** Moves the replay's position past these rows and counts them. */
function moveOn(replay: ReplayJob, rows: readonly RangeEvent[]): void {
  const last = rows.at(-1);
  if (!last) return;
  replay.cursorAt = last.at;
  replay.cursorId = last.id;
  replay.considered += rows.filter((row) => row.use !== "ignore").length;
  replay.skipped += rows.filter((row) => row.use === "skip").length;
}

/** Undefined when there is nothing left to do. */
function waitBeforeNext(
  { state, ratePerSecond }: ReplayJob,
  step: { active: boolean; made: number; left: number; anyDue: boolean; searching: boolean },
): number | undefined {
  if (state === "done" || (state === "cancelled" && step.left === 0)) return undefined;
  if (state === "cancelled") return RETRIES_WAIT_MS;
  if (!step.active) return PAUSED_WAIT_MS;
  if (step.made > 0) return Math.floor((step.made * 1_000) / ratePerSecond);
  if (step.searching) return SEARCH_WAIT_MS;
  return step.anyDue ? SLOTS_WAIT_MS : RETRIES_WAIT_MS;
}
