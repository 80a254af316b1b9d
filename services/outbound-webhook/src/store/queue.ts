import type { FairQueue, QueueCaps } from "@toolgate/postgres/fair-queue/caps";

export const SCHEMA = "outbound_webhook";
export const QUEUE_TABLES = `${SCHEMA}.queue`;

/** [FAIR-5] */
const TURN_MS = 20_000;

/** One worker takes a whole message: moderate sizes spread the work. */
export const ATTEMPTS_PER_MESSAGE = 16;

/** The queue of deliveries: a group is a workspace, a member an endpoint. */
export function deliveryQueue(caps: QueueCaps): FairQueue {
  return {
    tables: QUEUE_TABLES,
    caps,
    turnMs: TURN_MS,
    itemsPerMessage: ATTEMPTS_PER_MESSAGE,
  };
}
