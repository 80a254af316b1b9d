import { createHmac } from "node:crypto";
import { equalBytes } from "./verify.ts";

const FORM = /^sha256=([0-9a-fA-F]{64})$/;

/** The value of GitHub's `X-Hub-Signature-256`: `sha256=` and the hex HMAC-SHA256 of the body, without a time. */
export function signGithub(secret: string, body: Uint8Array | string): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

/**
 * Verifies `X-Hub-Signature-256` over the raw body: `sha256=` in lower case, hex in either case. Compares in constant
 * time. Never throws.
 */
export function verifyGithub(secret: string, header: string, body: Uint8Array | string): boolean {
  const hex = FORM.exec(header)?.[1];
  return (
    hex !== undefined && equalBytes(Buffer.from(`sha256=${hex.toLowerCase()}`), Buffer.from(signGithub(secret, body)))
  );
}
