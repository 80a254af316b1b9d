import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { prepareClaim } from "@toolgate/postgres/fair-queue/claim";
import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import { handBackStatements } from "@toolgate/postgres/fair-queue/settle";
import type { Pool } from "@toolgate/postgres/pool";

/** A delivery that is in flight from now until `leaseUntil`, with all that an attempt needs. */
export interface ClaimedDelivery {
  deliveryId: string;
  workspaceId: string;
  endpointId: number;
  /** Of the attempt to be made. */
  number: number;
  eventType: string;
  hop: number;
  url: string;
  /** Sealed. */
  secret: Buffer;
  body: Buffer;
  /** False when nothing is to be sent any more: endpoint deactivated or deleted, body gone. */
  wanted: boolean;
}

export interface Claim {
  deliveries: ClaimedDelivery[];
  /** Whether there may be more that is due. */
  full: boolean;
}

export interface ClaimStore {
  claim(now: Date, leaseUntil: Date): Promise<Claim>;
  /** Undoes a claim, wholly or in part. With `failingUntil` it is tried again then, and its endpoints count as failing. */
  handBack(
    deliveries: readonly Pick<ClaimedDelivery, "deliveryId" | "workspaceId">[],
    leaseUntil: Date,
    failingUntil?: Date,
  ): Promise<void>;
}

/** Bounds the memory of one claim: this many times 5 bodies. */
const MAX_GROUPS_PER_CLAIM = 40;

const SELECT = `select claimed.item_id as delivery_id, claimed.group_id as workspace_id, claimed.member_id as endpoint_id,
  claimed.attempt as number, d.event_type, event.hop, e.url, e.secret, event.body,
  e.deleted_at is null and (e.active or d.kind = 'test') and event.body is not null as wanted
from claimed
left join outbound_webhook.delivery d on d.created_at = claimed.created_at and d.id = claimed.item_id
left join outbound_webhook.event event on event.created_at = d.event_created_at and event.id = d.event_id
left join outbound_webhook.endpoint e on e.id = claimed.member_id`;

export function createClaimStore(pool: Pool, queue: FairQueue): ClaimStore {
  const claim = prepareClaim(queue, { name: "claim_deliveries", text: SELECT });
  return {
    async claim(now, leaseUntil) {
      const [locked, claimed] = await pipelined(pool, claim({ now, leaseUntil, maxGroups: MAX_GROUPS_PER_CLAIM }));
      const deliveries = (claimed?.rows ?? []).map(toDelivery);
      const groups: number = locked?.rows[0].groups ?? 0;
      // A claim that finds nothing where it looked has corrected the places of those that had hidden the others.
      const full = groups === MAX_GROUPS_PER_CLAIM || (groups > 0 && deliveries.length === 0);
      return { deliveries, full };
    },
    async handBack(deliveries, leaseUntil, failingUntil) {
      const items = deliveries.map((delivery) => ({ itemId: delivery.deliveryId, groupId: delivery.workspaceId }));
      await pipelined(pool, handBackStatements(queue, items, leaseUntil, failingUntil));
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the shape is that of SELECT
function toDelivery(row: any): ClaimedDelivery {
  return {
    deliveryId: row.delivery_id,
    workspaceId: row.workspace_id,
    endpointId: row.endpoint_id,
    number: row.number,
    eventType: row.event_type,
    hop: row.hop,
    url: row.url,
    secret: row.secret,
    body: row.body,
    wanted: row.wanted === true,
  };
}
