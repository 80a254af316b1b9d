import { type Delivery, Wait } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { hasEnded } from "./delivery-sentence.ts";

const POLL_MS = 1_000;
/** While the next attempt is not due. */
const RETRY_POLL_MS = 5_000;

/** How soon to read deliveries again that are followed on screen; false once they have ended. */
export function pollMs(deliveries: readonly Delivery[] = []): number | false {
  const open = deliveries.filter((delivery) => !hasEnded(delivery));
  if (open.length === 0) return false;
  return open.every(({ waitsFor }) => waitsFor === Wait.RETRY) ? RETRY_POLL_MS : POLL_MS;
}
