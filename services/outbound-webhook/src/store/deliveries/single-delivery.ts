import type { FairQueue } from "@toolgate/postgres/fair-queue/caps";
import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import { createdAtOf, newTimedId } from "@toolgate/postgres/timed-id";
import { currentRequestId } from "@toolgate/telemetry/request";
import { type EndpointKey, findEndpoint, lockWorkspace } from "../endpoint.ts";
import { deliveriesOf } from "../undelivered.ts";
import { addDeliveries, copyEvents, MAX_SENT_AGAIN } from "./add.ts";

type ResendResult = { deliveryId: string } | "no-such-delivery" | "endpoint-inactive" | "sent-too-often";

const ADD_TEST_EVENT = `insert into outbound_webhook.event (created_at, id, workspace_id, type, hop, body, request_id)
values ($1, $2, $3, $6, 1, $4, $5)`;

const FIND_DELIVERY = `select d.endpoint_id as "endpointId", d.event_id as "eventId", d.event_type as "eventType",
  d.event_at as "eventAt", d.event_created_at as "bodyAt", d.kind, e.active and e.deleted_at is null as active,
  e.deleted_at is null as exists,
  (select count(*) from ${deliveriesOf("d.event_id", "d.endpoint_id")} and o.kind <> 'event') as "sentAgain"
from outbound_webhook.delivery d join outbound_webhook.endpoint e on e.id = d.endpoint_id
where d.created_at = $1 and d.id = $2 and d.workspace_id = $3`;

/** Queues a test event for one endpoint, active or not. Undefined: no such endpoint. */
export function addTest(
  pool: Pool,
  queue: FairQueue,
  key: EndpointKey,
  event: { id: string; type: string; body: Buffer },
  now: Date,
): Promise<string | undefined> {
  return inTransaction(pool, async (db) => {
    await lockWorkspace(db, key.workspaceId);
    if (!(await findEndpoint(db, key))) return undefined;
    await db.query(ADD_TEST_EVENT, [now, event.id, key.workspaceId, event.body, currentRequestId(), event.type]);
    const id = newTimedId(now);
    const delivery = { id, eventId: event.id, eventType: event.type, eventAt: now, bodyAt: now };
    await addDeliveries(db, queue, { ...key, kind: "test" }, [delivery], now);
    return id;
  });
}

/** Queues the event of a delivery again, for the same endpoint. */
export async function addResend(
  pool: Pool,
  queue: FairQueue,
  { workspaceId, deliveryId }: { workspaceId: string; deliveryId: string },
  now: Date,
): Promise<ResendResult> {
  const createdAt = createdAtOf(deliveryId);
  if (!createdAt) return "no-such-delivery";
  return inTransaction(pool, async (db): Promise<ResendResult> => {
    await lockWorkspace(db, workspaceId);
    const { rows } = await db.query(FIND_DELIVERY, [createdAt, deliveryId, workspaceId]);
    const [original] = rows;
    if (!original) return "no-such-delivery";
    const isTest = original.kind === "test";
    if (isTest ? !original.exists : !original.active) return "endpoint-inactive";
    if (original.sentAgain >= MAX_SENT_AGAIN) return "sent-too-often";
    // A copy of the body is kept as long as the new delivery.
    await copyEvents(db, [original], now);
    const id = newTimedId(now);
    const to = { workspaceId, endpointId: original.endpointId, kind: isTest ? "test" : "resend" } as const;
    await addDeliveries(db, queue, to, [{ ...original, id, bodyAt: now }], now);
    return { deliveryId: id };
  });
}
