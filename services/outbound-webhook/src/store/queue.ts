import type { FairQueue, QueueCaps } from "@toolgate/postgres/fair-queue/caps";

export const SCHEMA = "outbound_webhook";
export const QUEUE_TABLES = `${SCHEMA}.queue`;

/** [FAIR-5] */
const TURN_MS = 20_000;

/** So many deliveries share a claim, a message and a commit that one endpoint with a backlog gets 1,000 a second. */
const SERIES_LENGTH = 16;

/** The queue of deliveries: a group is a workspace, a member an endpoint. */
export function deliveryQueue(caps: QueueCaps): FairQueue {
  return { tables: QUEUE_TABLES, caps, turnMs: TURN_MS, seriesLength: SERIES_LENGTH };
}
