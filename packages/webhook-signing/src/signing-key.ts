import { createSecretKey, type KeyObject } from "node:crypto";
import { decodeSecret } from "./secret.ts";

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
