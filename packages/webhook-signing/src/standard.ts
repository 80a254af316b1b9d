import { createHmac } from "node:crypto";
import { equalBytes } from "./constant-time.ts";
import { MAX_SIGNATURE_HEADER_CHARS, MAX_TIME_DIGITS } from "./parse-header.ts";
import { decodeSecret } from "./secret.ts";
import { assertUnixTime } from "./sign.ts";
import type { VerifyResult } from "./verify.ts";
import { DEFAULT_TOLERANCE_SECONDS } from "./verify.ts";

const SHA256_BASE64 = /^[A-Za-z0-9+/]{43}=$/;
const DIGITS = /^[0-9]+$/;

/**
 * The value of the Standard Webhooks header `webhook-signature`, `v1,<base64>`, over `<id>.<unixTime>.<body>`.
 * The key is what the secret holds after `whsec_`, base64-decoded. `unixTime` is in whole seconds.
 * Throws a TypeError for a secret of another form and a RangeError for a time that is not whole seconds.
 */
export function signStandard(secret: string, id: string, unixTime: number, body: Uint8Array | string): string {
  assertUnixTime(unixTime);
  const key = decodeSecret(secret);
  if (key === undefined) throw new TypeError("a Standard Webhooks secret is whsec_ followed by base64");
  return `v1,${hmac(key, id, String(unixTime), body).toString("base64")}`;
}

/** The three Standard Webhooks headers as received, the raw body, and the receiver's clock in Unix seconds. */
export type VerifyStandardInput = {
  secret: string;
  id: string;
  timestamp: string;
  signature: string;
  body: Uint8Array | string;
  now: number;
  toleranceSeconds?: number;
};

/**
 * Verifies Standard Webhooks headers: any `v1` of the space-separated list suffices, other versions are ignored,
 * a time exactly `toleranceSeconds` away passes. Constant-time; never throws (a secret of another form is a mismatch).
 */
export function verifyStandard(input: VerifyStandardInput): VerifyResult {
  const { timestamp, signature } = input;
  if (timestamp.length > MAX_TIME_DIGITS || !DIGITS.test(timestamp) || signature.length > MAX_SIGNATURE_HEADER_CHARS) {
    return { ok: false, reason: "malformed" };
  }
  const candidates = signature.split(" ").filter((part) => part.startsWith("v1,"));
  if (candidates.length === 0) return { ok: false, reason: "malformed" };
  const unixTime = Number(timestamp);
  const deviation = Math.abs(input.now - unixTime);
  if (!(deviation <= (input.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS))) {
    return { ok: false, reason: "outside-tolerance" };
  }
  const key = decodeSecret(input.secret);
  if (key === undefined) return { ok: false, reason: "mismatch" };
  const expected = hmac(key, input.id, timestamp, input.body);
  let matches = false;
  for (const candidate of candidates) {
    const encoded = candidate.slice("v1,".length);
    if (SHA256_BASE64.test(encoded) && equalBytes(Buffer.from(encoded, "base64"), expected)) matches = true;
  }
  return matches ? { ok: true, unixTime } : { ok: false, reason: "mismatch" };
}

function hmac(key: Uint8Array, id: string, timeText: string, body: Uint8Array | string): Buffer {
  return createHmac("sha256", key).update(`${id}.${timeText}.`).update(body).digest();
}
