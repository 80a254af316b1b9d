import { createHmac } from "node:crypto";
import { equalBytes } from "./constant-time.ts";

const SHA256_BASE64 = /^[A-Za-z0-9+/]{43}=$/;

/** The value of `X-Shop-Hmac-Sha256`: base64 of HMAC-SHA256(secret, body), without a time. [AUTH-12] */
export function signShop(secret: string, body: Uint8Array | string): string {
  return createHmac("sha256", secret).update(body).digest("base64");
}

/**
 * Verifies `X-Shop-Hmac-Sha256` over the raw body, in constant time. Only the strict standard alphabet with its
 * padding is read; anything else is a failure. Never throws. [AUTH-11, AUTH-12]
 */
export function verifyShop(secret: string, header: string, body: Uint8Array | string): boolean {
  if (!SHA256_BASE64.test(header)) return false;
  return equalBytes(Buffer.from(header, "base64"), createHmac("sha256", secret).update(body).digest());
}
