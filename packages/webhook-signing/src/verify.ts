import { timingSafeEqual } from "node:crypto";
import { parseSignatureHeader } from "./parse-header.ts";
import { hexSignature } from "./sign.ts";

/** How far a signature's time may be from now, in seconds, in either direction. [AUTH-3] */
export const DEFAULT_TOLERANCE_SECONDS = 300;

/**
 * The outcome of a verification. The reason is for logs; the sender does not learn it. `secondsOff`: how far its time is from
 * now, negative in the past.
 */
export type VerifyResult =
  | { ok: true; unixTime: number }
  | { ok: false; reason: "malformed" | "mismatch" }
  | { ok: false; reason: "outside-tolerance"; secondsOff: number };

/**
 * Verifies `t=…,v1=…` against the raw body bytes as received; `now` is the receiver's clock in Unix seconds. A time
 * exactly `toleranceSeconds` away passes, in both directions; any one matching `v1` suffices; hex may be in either case.
 * Compares in constant time. Never throws. [OUT-26..32, AUTH-1..3]
 */
export function verify(input: {
  secret: string;
  header: string;
  body: Uint8Array | string;
  now: number;
  toleranceSeconds?: number;
}): VerifyResult {
  const { secret, header, body, now, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = input;
  const parsed = parseSignatureHeader(header);
  if (!parsed) return { ok: false, reason: "malformed" };
  const { unixTime, timeText, v1 } = parsed;
  // Negated, so that NaN is refused.
  const secondsOff = unixTime - now;
  if (!(Math.abs(secondsOff) <= toleranceSeconds)) return { ok: false, reason: "outside-tolerance", secondsOff };
  const expected = Buffer.from(hexSignature(secret, timeText, body));
  const matches = v1.some((hex) => equalBytes(Buffer.from(hex.toLowerCase()), expected));
  return matches ? { ok: true, unixTime } : { ok: false, reason: "mismatch" };
}

/** Whether two byte strings are equal; the time taken depends on the lengths only. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
