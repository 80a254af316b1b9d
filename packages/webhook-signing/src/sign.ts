import { createHmac } from "node:crypto";

/**
 * HMAC-SHA256 over `<timeText>.<body>`, keyed with the whole secret string as UTF-8
 * (prefix included, nothing decoded). 32 bytes. [OUT-26..28]
 */
export function signatureBytes(secret: string, timeText: string, body: Uint8Array | string): Buffer {
  return createHmac("sha256", secret).update(`${timeText}.`).update(body).digest();
}

/**
 * The value of `X-Service-Signature` for exactly these body bytes: `t=<unixTime>,v1=<64 lower-case hex digits>`.
 * `unixTime` is in whole seconds; each attempt takes a fresh one. Throws a RangeError for a time that is
 * not a non-negative integer. [OUT-22, OUT-29]
 */
export function sign(secret: string, unixTime: number, body: Uint8Array | string): string {
  assertUnixTime(unixTime);
  return `t=${unixTime},v1=${signatureBytes(secret, String(unixTime), body).toString("hex")}`;
}

/** Throws a RangeError unless the value is a time in whole, non-negative Unix seconds. */
export function assertUnixTime(unixTime: number): void {
  if (!Number.isSafeInteger(unixTime) || unixTime < 0) {
    throw new RangeError("the time of a signature is in whole Unix seconds");
  }
}
