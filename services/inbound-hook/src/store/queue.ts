import type { FairQueue, QueueCaps } from "@toolgate/postgres/fair-queue/caps";
import type { Pool } from "@toolgate/postgres/pool";

export const SCHEMA = "inbound_hook";

/** [IN-66] Each lane has a queue of its own, so that long runs of assistants do not delay tools. */
export type Lane = "tool" | "assistant";
export const LANES: readonly Lane[] = ["tool", "assistant"];

/** Where the deliveries of a lane are stored and queued; `pool` is for pipelined statements. */
export interface LaneStore {
  pool: Pool;
  queue: FairQueue;
}

/** [FAIR-5] */
const TIME_BUDGET_MS = 20_000;

/** The queue of a lane: a group is a workspace, a member a hook. */
export function laneQueue(lane: Lane, caps: QueueCaps): FairQueue {
  return { tables: `${SCHEMA}.${lane}_queue`, caps, turnMs: TIME_BUDGET_MS };
}
