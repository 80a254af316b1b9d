import { create } from "@bufbuild/protobuf";
import { type Bus, unlessDisconnected } from "@toolgate/event-bus/connect";
import { AttemptSchema } from "@toolgate/gen/toolgate/events/v1/attempt_pb";
import type { ClaimStore, LeasedDelivery } from "../store/deliveries/claim.ts";
import { type AttemptMessage, messageIdOf, notAfterOf, type SendAttempts } from "./attempt-sender.ts";
import { LEASE_MS } from "./dispatcher.ts";
import { isLocal, RESERVATIONS, reservationId } from "./local-messages.ts";

interface UnsentOptions {
  store: Pick<ClaimStore, "leased">;
  bus: Bus;
  send: SendAttempts;
  /** Whether this process makes the attempts of a message itself at the moment. */
  holds?: (messageId: string) => boolean;
  now: () => Date;
}

/** Leases are looked at a second time, in case the commit of their claim took this long. */
const LOOK_AGAIN_MS = 2_000;

/**
 * Frees the slots of deliveries that a dispatcher claimed but did not live to send, long before their lease expires. Each
 * run looks at the leases that have become so old, of any dispatcher, that their attempts should have been sent, and sends
 * the message with their attempts again, without content: it asks a worker to hand them back. The broker drops it if the
 * message was sent. If it was not, the broker drops the message of a dispatcher that was only slow. So no delivery is sent
 * twice. The same at a greater age for the deliveries of local messages whose process has died and reserves them no more.
 * `hasLeases` says whether any lease was seen at this poll; without one there is nothing to look for.
 */
export function createUnsentSweep(options: UnsentOptions): (hasLeases: boolean) => Promise<void> {
  const { bus } = options;
  const lookedUntil = RESERVATIONS.map(() => new Date(0));
  let { breaks } = bus;
  return async (hasLeases) => {
    if (!bus.isConnected()) return;
    // After a break, those whose attempts are under way reserve them first.
    const broke = breaks !== bus.breaks;
    breaks = bus.breaks;
    if (broke || !hasLeases) return;
    for (const index of RESERVATIONS.keys())
      lookedUntil[index] = await sweepAge(options, index, lookedUntil[index] ?? new Date(0));
  };
}

/** Resolves with the end of the leases that need no further look. */
async function sweepAge(
  { store, bus, send, now, holds = () => false }: UnsentOptions,
  reservation: number,
  after: Date,
): Promise<Date> {
  const { doubtfulAfterMs } = RESERVATIONS[reservation] ?? RESERVATIONS[0];
  const until = new Date(now().getTime() + LEASE_MS - doubtfulAfterMs);
  const { deliveries, full } = await store.leased(after, until);
  const last = deliveries.at(-1);
  const doubtful = toMessages(deliveries, reservation, holds);
  if (last && doubtful.length > 0) {
    // A broker that was wiped has forgotten which messages were sent before.
    const { created } = await unlessDisconnected(bus, () => bus.jsm.streams.info("ATTEMPTS"));
    const since = new Date(created).getTime() + LEASE_MS;
    const [failure] = await send(doubtful.filter(({ leaseUntil }) => leaseUntil.getTime() > since));
    if (failure) throw failure.error;
  }
  return full && last ? last.leaseUntil : new Date(until.getTime() - LOOK_AGAIN_MS);
}

function toMessages(
  deliveries: readonly LeasedDelivery[],
  reservation: number,
  holds: (messageId: string) => boolean,
): (AttemptMessage & { leaseUntil: Date })[] {
  const byMessage = Map.groupBy(deliveries, (delivery) => messageIdOf(delivery, delivery.bodyBytes));
  return [...byMessage]
    .filter(([messageId]) => (reservation === 0 || isLocal(messageId)) && !holds(messageId))
    .map(([messageId, together]) => ({
      messageId: reservationId(messageId, reservation),
      leaseUntil: together[0]?.leaseUntil ?? new Date(0),
      attempts: together.map(({ deliveryId, workspaceId, leaseUntil }) =>
        create(AttemptSchema, { deliveryId, workspaceId, handBackNotAfterMs: notAfterOf(leaseUntil) }),
      ),
    }));
}
