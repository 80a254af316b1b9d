import { create } from "@bufbuild/protobuf";
import { type Bus, unlessDisconnected } from "@toolgate/event-bus/connect";
import { AttemptSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import type { ClaimStore, LeasedDelivery } from "../store/deliveries/claim.ts";
import { type AttemptMessage, messageIdOf, notAfterOf, type SendAttempts } from "./attempt-sender.ts";
import { LEASE_MS } from "./dispatcher.ts";

interface UnsentOptions {
  store: Pick<ClaimStore, "leased">;
  bus: Bus;
  send: SendAttempts;
  now: () => Date;
}

/** Attempts of a lease of this age should have been sent. */
const SENT_WITHIN_MS = 4_000;
/** Leases are looked at a second time, in case the commit of their claim took this long. */
const LOOK_AGAIN_MS = 2_000;

/**
 * Frees the slots of deliveries that a dispatcher claimed but did not live to send, long before their lease expires. Each
 * run looks at the leases that have become so old, of any dispatcher, that their attempts should have been sent, and sends
 * the message with their attempts again, without content: it asks a worker to hand them back. The broker drops it if the
 * message was sent. If it was not, the broker drops the message of a dispatcher that was only slow. So no delivery is sent
 * twice. `hasLeases` says whether any lease was seen at this poll; without one there is nothing to look for.
 */
export function createUnsentSweep({ store, bus, send, now }: UnsentOptions): (hasLeases: boolean) => Promise<void> {
  /** The end of the leases that need no further look. */
  let lookedUntil = new Date(0);
  return async (hasLeases) => {
    if (!bus.isConnected() || !hasLeases) return;
    const until = new Date(now().getTime() + LEASE_MS - SENT_WITHIN_MS);
    const { deliveries, full } = await store.leased(lookedUntil, until);
    const last = deliveries.at(-1);
    if (last) {
      // A broker that was wiped has forgotten which messages were sent before.
      const { created } = await unlessDisconnected(bus, () => bus.jsm.streams.info("ATTEMPTS"));
      const since = new Date(created).getTime() + LEASE_MS;
      const [failure] = await send(toMessages(deliveries).filter(({ leaseUntil }) => leaseUntil.getTime() > since));
      if (failure) throw failure.error;
    }
    lookedUntil = full && last ? last.leaseUntil : new Date(until.getTime() - LOOK_AGAIN_MS);
  };
}

function toMessages(deliveries: readonly LeasedDelivery[]): (AttemptMessage & { leaseUntil: Date })[] {
  const byMessage = Map.groupBy(deliveries, (delivery) => messageIdOf(delivery, delivery.bodyBytes));
  return [...byMessage].map(([messageId, together]) => ({
    messageId,
    leaseUntil: together[0]?.leaseUntil ?? new Date(0),
    attempts: together.map(({ deliveryId, workspaceId, leaseUntil }) =>
      create(AttemptSchema, { deliveryId, workspaceId, handBackNotAfterMs: notAfterOf(leaseUntil) }),
    ),
  }));
}
