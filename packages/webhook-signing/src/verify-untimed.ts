import { createHash, createHmac, timingSafeEqual } from "node:crypto";

const BEARER = /^bearer +([^ ]+)$/i;
const GITHUB = /^sha256=[0-9a-fA-F]{64}$/;

/**
 * Verifies `X-Shop-Hmac-Sha256`, the base64 of HMAC-SHA256(secret, body) without a time, over the raw body. Only the
 * standard alphabet with its padding passes. Compares in constant time. Never throws. [AUTH-11, AUTH-12]
 */
export function verifyShop(secret: string, header: string, body: Uint8Array | string): boolean {
  return equalText(header, createHmac("sha256", secret).update(body).digest("base64"));
}

/** The value of GitHub's `X-Hub-Signature-256`: `sha256=` and the hex HMAC-SHA256 of the body, without a time. */
export function signGithub(secret: string, body: Uint8Array | string): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

/**
 * Verifies `X-Hub-Signature-256` over the raw body: `sha256=` in lower case, hex in either case. Compares in constant
 * time. Never throws.
 */
export function verifyGithub(secret: string, header: string, body: Uint8Array | string): boolean {
  return GITHUB.test(header) && equalText(header.toLowerCase(), signGithub(secret, body));
}

/**
 * True when an `Authorization` value is `Bearer <secret>`: the scheme in any case, the token exact, compared in
 * constant time. Never throws. [AUTH-14]
 */
export function verifyBearer(secret: string, header: string): boolean {
  const token = BEARER.exec(header)?.[1];
  return token !== undefined && equalText(token, secret);
}

/** Compares hashes, so that the time taken does not even depend on the length of the secret. */
function equalText(left: string, right: string): boolean {
  return timingSafeEqual(sha256(left), sha256(right));
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
