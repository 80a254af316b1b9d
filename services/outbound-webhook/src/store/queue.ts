import type { FairQueue, QueueCaps } from "@toolgate/postgres/fair-queue/caps";

export const SCHEMA = "outbound_webhook";
export const QUEUE_TABLES = `${SCHEMA}.queue`;

/** [FAIR-5] */
const TURN_MS = 20_000;

/** One worker takes a whole message: moderate sizes spread the work. */
export const ATTEMPTS_PER_MESSAGE = 16;

/** The minimum: slow endpoints get a multiple of their usual time instead. */
export const SUSPECT_AFTER_MS = 100;

/**
 * Long enough that a stall of the whole installation is not taken for endpoints that hang, or a workspace would get more slots
 * than it should.
 */
export const HANGS_AFTER_MS = 1_000;

/** The queue of deliveries: a group is a workspace, a member an endpoint. */
export function deliveryQueue(caps: QueueCaps): FairQueue {
  return {
    tables: QUEUE_TABLES,
    caps,
    turnMs: TURN_MS,
    suspectAfterMs: SUSPECT_AFTER_MS,
    hangsAfterMs: HANGS_AFTER_MS,
    itemsPerMessage: ATTEMPTS_PER_MESSAGE,
  };
}
