import { createHmac, type KeyObject } from "node:crypto";
import { decodeSecret, type SigningKey } from "./secret.ts";

/**
 * The value of `X-Service-Signature` for exactly these body bytes: `t=<unixTime>,v1=<64 lower-case hex digits>`.
 * `unixTime` is in whole seconds; each attempt takes a fresh one. [OUT-22, OUT-29]
 */
export function sign(secret: string | SigningKey, unixTime: number, body: Uint8Array | string): string {
  const key = typeof secret === "string" ? secret : secret.whole;
  return `t=${unixTime},v1=${hexSignature(key, String(unixTime), body)}`;
}

/**
 * HMAC-SHA256 over `<timeText>.<body>`, keyed with the whole secret string as UTF-8 (prefix included, nothing decoded),
 * as 64 lower-case hex digits. [OUT-26..28]
 */
export function hexSignature(secret: string | KeyObject, timeText: string, body: Uint8Array | string): string {
  return createHmac("sha256", secret).update(`${timeText}.`).update(body).digest("hex");
}

/**
 * The value of the Standard Webhooks header `webhook-signature`, `v1,<base64>`, over `<id>.<unixTime>.<body>`.
 * The key is the part of the secret after `whsec_`, base64-decoded. `unixTime` is in whole seconds.
 * Throws a TypeError for a secret of another form.
 */
export function signStandard(
  secret: string | SigningKey,
  id: string,
  unixTime: number,
  body: Uint8Array | string,
): string {
  const key = typeof secret === "string" ? decodeSecret(secret) : secret.standard;
  if (key === undefined) throw new TypeError("a Standard Webhooks secret is whsec_ followed by base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${unixTime}.`).update(body).digest("base64")}`;
}
