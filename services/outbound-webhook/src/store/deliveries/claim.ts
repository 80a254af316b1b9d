import { randomUUID } from "node:crypto";
import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { isAnyGroupDue, prepareClaim } from "@toolgate/postgres/fair-queue/claim";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import { expiredGroups, expireStatements, undoClaimStatements } from "@toolgate/postgres/fair-queue/settle";
import type { Pool } from "@toolgate/postgres/pool";

/** A delivery that is in flight from now until `leaseUntil`, with everything that an attempt needs. */
export interface ClaimedDelivery {
  deliveryId: string;
  workspaceId: string;
  endpointId: number;
  /** The number of the attempt to be made. */
  number: number;
  eventType: string;
  hop: number;
  /** W3C trace context of the event; empty when it was not traced, null when its row is deleted. */
  traceparent: string | null;
  tracestate: string | null;
  url: string;
  /** Sealed. */
  secret: Buffer;
  /** Sealed; null when the endpoint has none. */
  customHeaders: Buffer | null;
  /** Of the message in which its attempt is sent; see `messageIdOf`. */
  messageId: string;
  body: Buffer;
  /** False when it must not be sent any more: the endpoint was deactivated or deleted since, or the body has expired. */
  wanted: boolean;
}

/** A leased delivery. Whether its dispatcher has sent it is not known here. */
export interface LeasedDelivery extends Pick<ClaimedDelivery, "deliveryId" | "workspaceId" | "messageId"> {
  leaseUntil: Date;
  bodyBytes: number;
}

interface Claim {
  deliveries: ClaimedDelivery[];
  /** Whether more deliveries may be due. */
  full: boolean;
}

export interface ClaimStore {
  /** Whether a claim may find deliveries. */
  isDue(now: Date): Promise<boolean>;
  /** @param claimId the beginning of the ids of the messages in which the deliveries are sent */
  claim(now: Date, leaseUntil: Date, claimId?: string): Promise<Claim>;
  /**
   * Hands claimed deliveries back to the queue. With `failingUntil` they wait until then, and their endpoints count
   * as failing.
   */
  handBack(
    deliveries: readonly Pick<ClaimedDelivery, "deliveryId" | "workspaceId">[],
    leaseUntil: Date,
    failingUntil?: Date,
  ): Promise<void>;
  /**
   * The deliveries whose lease ends after `after` and until `until`, the earliest ones first. When there are too many,
   * the list ends with a whole lease, and `full` is true.
   */
  leased(after: Date, until: Date): Promise<{ deliveries: LeasedDelivery[]; full: boolean }>;
  /** Whether there is any lease. */
  hasLeases(): Promise<boolean>;
  /** Hands deliveries whose lease has expired back to the queue. Resolves with how many. */
  expireLeases(now: Date): Promise<number>;
}

/** Bounds the memory of one claim to this many times 5 bodies. */
export const MAX_GROUPS_PER_CLAIM = 40;
export const ITEMS_PER_EXPIRY = 500;
const LEASED_PER_PAGE = 500;
/**
 * Extra time after the lease, so that after a pause of this service or the database, results that have arrived are
 * applied before deliveries are repeated.
 */
export const RESULTS_FIRST_MS = 3_000;

const SELECT = `select claimed.item_id as "deliveryId", claimed.group_id as "workspaceId",
  claimed.member_id as "endpointId", claimed.attempt as number, d.event_type as "eventType", event.hop,
  event.traceparent, event.tracestate, e.url, e.secret, e.sealed_headers as "customHeaders",
  claimed.message_id as "messageId",
  event.body, coalesce(e.deleted_at is null and (e.active or d.kind = 'test') and event.body is not null
    and (e.cancel_until is null or claimed.created_at > e.cancel_until), false) as wanted
from claimed
left join outbound_webhook.delivery d on d.created_at = claimed.created_at and d.id = claimed.item_id
left join outbound_webhook.event event on event.created_at = d.event_created_at and event.id = d.event_id
left join outbound_webhook.endpoint e on e.id = claimed.member_id`;

/** A delivery without a body is not sent. */
const LEASED = `select q.item_id as "deliveryId", q.group_id as "workspaceId", q.message_id as "messageId",
  q.lease_until as "leaseUntil", octet_length(event.body) as "bodyBytes"
from outbound_webhook.queue_item q
join outbound_webhook.delivery d on d.created_at = q.created_at and d.id = q.item_id
join outbound_webhook.event event on event.created_at = d.event_created_at and event.id = d.event_id
where q.lease_until > $1 and q.lease_until <= $2 and event.body is not null
order by q.lease_until
fetch first ${LEASED_PER_PAGE} rows with ties`;

const ANY_LEASED = "select exists (select from outbound_webhook.queue_item where lease_until is not null) as leased";

export function createClaimStore(pool: Pool, queue: FairQueue): ClaimStore {
  const claim = prepareClaim(queue, { name: "claim_deliveries", text: SELECT });
  return {
    isDue: (now) => isAnyGroupDue(pool, queue.tables, now),
    async claim(now, leaseUntil, claimId = randomUUID()) {
      const [locked, claimed] = await pipelined(
        pool,
        claim({ now, leaseUntil, maxGroups: MAX_GROUPS_PER_CLAIM, values: [claimId] }),
      );
      const deliveries: ClaimedDelivery[] = claimed?.rows ?? [];
      const groups: number = locked?.rows[0].groups ?? 0;
      // A claim that finds nothing has still updated the due times of the groups that it locked; other groups may be
      // due.
      const full = groups === MAX_GROUPS_PER_CLAIM || (groups > 0 && deliveries.length === 0);
      return { deliveries, full };
    },
    async handBack(deliveries, leaseUntil, failingUntil) {
      const items = deliveries.map((delivery) => ({ itemId: delivery.deliveryId, groupId: delivery.workspaceId }));
      await pipelined(pool, undoClaimStatements(queue, items, leaseUntil, failingUntil));
    },
    async leased(after, until) {
      const { rows } = await pool.query({ name: "leased_deliveries", text: LEASED, values: [after, until] });
      const deliveries: LeasedDelivery[] = rows;
      return { deliveries, full: deliveries.length >= LEASED_PER_PAGE };
    },
    async hasLeases() {
      const { rows } = await pool.query({ name: "any_delivery_leased", text: ANY_LEASED });
      return rows[0].leased;
    },
    async expireLeases(now) {
      const { rows } = await pool.query(expiredGroups(queue.tables, now, ITEMS_PER_EXPIRY));
      const groups: string[] = rows.map((row) => row.group_id);
      if (groups.length === 0) return 0;
      const again = new Date(now.getTime() + RESULTS_FIRST_MS);
      const results = await pipelined(pool, expireStatements(queue, groups, now, ITEMS_PER_EXPIRY, again));
      return results.at(-1)?.rows[0].items ?? 0;
    },
  };
}
