import type { FairQueue, QueueCaps } from "@toolgate/postgres/fair-queue/caps";

export const SCHEMA = "outbound_webhook";

/** [FAIR-5] */
const TURN_MS = 20_000;

/** For endpoints that respond fast; for slower ones, a multiple of the time that they usually take. */
export const STUCK_AFTER_MS = 100;

/** The queue of deliveries: a group is a workspace, a member an endpoint. */
export function deliveryQueue(caps: QueueCaps): FairQueue {
  return { schema: SCHEMA, caps, turnMs: TURN_MS, stuckAfterMs: STUCK_AFTER_MS };
}
