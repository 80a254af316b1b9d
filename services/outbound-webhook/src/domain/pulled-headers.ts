import { sign } from "@toolgate/webhook-signing/sign";
import { signStandard } from "@toolgate/webhook-signing/standard";

export interface PulledEvent {
  eventId: string;
  eventType: string;
  hop: number;
  secret: string;
  body: Uint8Array;
  now: Date;
}

/**
 * What a delivery would have had as its headers, signed for this moment, so that the same code verifies a pulled event.
 * There is no delivery and no attempt; the id for Standard Webhooks is that of the event.
 */
export function pulledHeaders({ eventId, eventType, hop, secret, body, now }: PulledEvent): Record<string, string> {
  const unixTime = Math.floor(now.getTime() / 1000);
  return {
    "content-type": "application/json",
    "x-service-event": eventType,
    "x-service-signature": sign(secret, unixTime, body),
    "x-service-hop": String(hop),
    "webhook-id": eventId,
    "webhook-timestamp": String(unixTime),
    "webhook-signature": signStandard(secret, eventId, unixTime, body),
  };
}
