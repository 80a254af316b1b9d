import { sign } from "@toolgate/webhook-signing/sign";
import { signStandard } from "@toolgate/webhook-signing/standard";

const USER_AGENT = "Service-Webhooks/1.0 (Toolgate)";

export interface SignedAttempt {
  deliveryId: string;
  eventType: string;
  number: number;
  hop: number;
  /** The endpoint's secret as it is now, also for retries. */
  secret: string;
  body: Uint8Array;
  now: Date;
}

/** The time in a signature made now, in Unix seconds. [OUT-29] */
export function signingTime(now: Date): number {
  return Math.floor(now.getTime() / 1000);
}

/** The headers of one attempt, signed for this moment, and beside them those of Standard Webhooks. [OUT-18..29] */
export function requestHeaders(attempt: SignedAttempt): Record<string, string> {
  const { deliveryId, secret, body } = attempt;
  const unixTime = signingTime(attempt.now);
  return {
    "content-type": "application/json",
    "user-agent": USER_AGENT,
    "x-service-event": attempt.eventType,
    "x-service-delivery": deliveryId,
    "x-service-signature": sign(secret, unixTime, body),
    "x-service-attempt": String(attempt.number),
    "x-service-hop": String(attempt.hop),
    "webhook-id": deliveryId,
    "webhook-timestamp": String(unixTime),
    "webhook-signature": signStandard(secret, deliveryId, unixTime, body),
  };
}
