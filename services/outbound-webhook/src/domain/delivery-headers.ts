import type { SigningKey } from "@toolgate/webhook-signing/secret";
import { sign, signStandard } from "@toolgate/webhook-signing/sign";

const USER_AGENT = "Service-Webhooks/1.0 (Toolgate)";

interface SignedAttempt {
  deliveryId: string;
  eventType: string;
  number: number;
  hop: number;
  secret: string | SigningKey;
  body: Uint8Array;
  now: Date;
}

/** The time in a signature made now, in Unix seconds. [OUT-29] */
export function signingTime(now: Date): number {
  return Math.floor(now.getTime() / 1000);
}

/** The headers of one attempt, signed now with the current secret, and those of Standard Webhooks. [OUT-18..29] */
export function requestHeaders(attempt: SignedAttempt): Record<string, string> {
  const { deliveryId, secret, body } = attempt;
  const unixTime = signingTime(attempt.now);
  return {
    "content-type": "application/json",
    "user-agent": USER_AGENT,
    "x-service-event": attempt.eventType,
    "x-service-delivery": deliveryId,
    "x-service-attempt": String(attempt.number),
    "x-service-hop": String(attempt.hop),
    "x-service-signature": sign(secret, unixTime, body),
    "webhook-id": deliveryId,
    "webhook-timestamp": String(unixTime),
    "webhook-signature": signStandard(secret, deliveryId, unixTime, body),
  };
}

/** The headers of a past attempt. */
export interface SentHeaders {
  headers: Record<string, string>;
  /** The signatures cannot be computed again: the secret or body is deleted, or the secret was replaced. */
  signaturesGone: boolean;
}

/**
 * Headers are not stored but computed again. If the secret was replaced in the same second as the signature, it is
 * unknown which secret signed, so no signature is shown.
 */
export function sentHeaders({
  signedAt,
  secret,
  ...attempt
}: Omit<SignedAttempt, "now" | "secret"> & {
  signedAt: Date;
  secret: { text: string; replacedAt: Date | null } | undefined;
}): SentHeaders {
  const known = secret && attempt.body.length > 0 && (!secret.replacedAt || secret.replacedAt < signedAt);
  const headers = requestHeaders({ ...attempt, now: signedAt, secret: known ? secret.text : PLACEHOLDER_SECRET });
  if (known) return { headers, signaturesGone: false };
  const { "x-service-signature": _, "webhook-signature": __, ...unsigned } = headers;
  return { headers: unsigned, signaturesGone: true };
}

const PLACEHOLDER_SECRET = `whsec_${Buffer.alloc(32).toString("base64")}`;
