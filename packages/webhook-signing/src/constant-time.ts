import { createHash, timingSafeEqual } from "node:crypto";

/**
 * True when two byte strings are equal; the time taken depends on the lengths only.
 */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * True when two texts are equal; both are hashed first, so that not even the length of the secret one shows.
 */
export function equalText(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
