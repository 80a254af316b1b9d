import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";

/** What every generated webhook or hook secret begins with. [OUT-6] */
export const SECRET_PREFIX = "whsec_";

/** Randomness of a generated secret, in bytes. */
export const SECRET_BYTES = 32;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** A new secret: `whsec_` and the base64 of SECRET_BYTES random bytes. */
export function generateSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/**
 * The bytes that Standard Webhooks keys its HMAC with: the base64 after `whsec_`, decoded.
 * Undefined when the secret lacks the prefix, or when what follows is empty or not standard base64.
 */
export function decodeSecret(secret: string): Buffer | undefined {
  if (!secret.startsWith(SECRET_PREFIX)) return undefined;
  const encoded = secret.slice(SECRET_PREFIX.length);
  return encoded !== "" && BASE64.test(encoded) ? Buffer.from(encoded, "base64") : undefined;
}

/** A secret prepared for many signatures: Node needs a multiple of the time to sign with text. */
export interface SigningKey {
  /** The whole secret as UTF-8. */
  readonly whole: KeyObject;
  /** What Standard Webhooks signs with; undefined when the secret is not of its form. */
  readonly standard: KeyObject | undefined;
}

export function signingKey(secret: string): SigningKey {
  const decoded = decodeSecret(secret);
  return { whole: createSecretKey(secret, "utf8"), standard: decoded && createSecretKey(decoded) };
}
