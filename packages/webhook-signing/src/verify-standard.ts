import { createHmac } from "node:crypto";
import { MAX_SIGNATURE_HEADER_CHARS, parseUnixTime } from "./parse-header.ts";
import { decodeSecret, SECRET_PREFIX } from "./secret.ts";
import { DEFAULT_TOLERANCE_SECONDS, equalBytes, type VerifyResult } from "./verify.ts";

const VERSION = "v1,";
/**
 * The signed text `<id>.<time>.<body>` does not say where the id ends. Ids of this form are refused, so that nobody can
 * pass off a part of the time or the body as a part of the id, or the other way round.
 */
const ID_LOOKS_LIKE_TIME = /\.[0-9]+(?:\.|$)/;

/** The three headers of Standard Webhooks, as received. */
export interface StandardHeaders {
  /** `webhook-id` */
  id: string;
  /** `webhook-timestamp`, in Unix seconds. */
  timestamp: string;
  /** `webhook-signature`: `v1,<base64>`, several separated by blanks. */
  signature: string;
}

/**
 * Verifies the headers of Standard Webhooks over the raw body; `now` is the receiver's clock in Unix seconds. The key is
 * the base64 in the secret, with or without `whsec_`; a secret of another form verifies nothing. Any one matching `v1`
 * suffices, and other versions are ignored. A time exactly `toleranceSeconds` away passes, in both directions. An id in which
 * only digits follow a full stop, up to the next one or the end, is malformed. Compares in constant time. Never throws.
 */
export function verifyStandard(input: {
  secret: string;
  headers: StandardHeaders;
  body: Uint8Array | string;
  now: number;
  toleranceSeconds?: number;
}): VerifyResult {
  const { secret, headers, body, now, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = input;
  const { id, timestamp, signature } = headers;
  const unixTime = parseUnixTime(timestamp);
  const key = keyOf(secret);
  if (id === "" || ID_LOOKS_LIKE_TIME.test(id) || unixTime === undefined || key === undefined)
    return { ok: false, reason: "malformed" };
  if (signature.length > MAX_SIGNATURE_HEADER_CHARS) return { ok: false, reason: "malformed" };
  // Negated, so that NaN is refused.
  const secondsOff = unixTime - now;
  if (!(Math.abs(secondsOff) <= toleranceSeconds)) return { ok: false, reason: "outside-tolerance", secondsOff };
  const hmac = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body);
  const expected = Buffer.from(VERSION + hmac.digest("base64"));
  const matches = signature.split(" ").some((part) => equalBytes(Buffer.from(part), expected));
  return matches ? { ok: true, unixTime } : { ok: false, reason: "mismatch" };
}

/** Providers write the prefix or leave it out. */
function keyOf(secret: string): Buffer | undefined {
  return decodeSecret(secret.startsWith(SECRET_PREFIX) ? secret : SECRET_PREFIX + secret);
}
