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

/** A dispatcher usually sends what it has claimed within milliseconds. */
const DOUBTFUL_AFTER_MS = 4_000;
/** Leases are looked at a second time, in case the commit of their claim took this long. */
const LOOK_AGAIN_MS = 2_000;

/**
 * Frees the slots of deliveries that a dispatcher claimed but did not live to send, long before their lease expires. Each
 * run looks at the leases that have become `DOUBTFUL_AFTER_MS` old, of any dispatcher, and sends the message with their
 * attempts again, without content: it asks a worker to hand them back. The broker drops it if the message was sent. If it
 * was not, the broker drops the message of a dispatcher that was only slow. So no delivery is sent twice.
 */
export function createUnsentSweep({ store, bus, send, now }: UnsentOptions): () => Promise<void> {
  let lookedUntil = new Date(0);
  return async () => {
    const until = new Date(now().getTime() + LEASE_MS - DOUBTFUL_AFTER_MS);
    const { deliveries, full } = await store.leased(lookedUntil, until);
    const last = deliveries.at(-1);
    if (last) {
      // A broker that was wiped has forgotten which messages were sent before.
      const { created } = await unlessDisconnected(bus, () => bus.jsm.streams.info("ATTEMPTS"));
      const since = new Date(created).getTime() + LEASE_MS;
      const [failure] = await send(toMessages(deliveries.filter(({ leaseUntil }) => leaseUntil.getTime() > since)));
      if (failure) throw failure.error;
    }
    lookedUntil = full && last ? last.leaseUntil : new Date(until.getTime() - LOOK_AGAIN_MS);
  };
}

function toMessages(deliveries: readonly LeasedDelivery[]): AttemptMessage[] {
  const byMessage = Map.groupBy(deliveries, (delivery) => messageIdOf(delivery, delivery.bodyBytes));
  return [...byMessage].map(([messageId, together]) => ({
    messageId,
    attempts: together.map(({ deliveryId, workspaceId, leaseUntil }) =>
      create(AttemptSchema, { deliveryId, workspaceId, handBackNotAfterMs: notAfterOf(leaseUntil) }),
    ),
  }));
}
