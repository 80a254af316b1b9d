import { createHash } from "node:crypto";

const TAG_CHARACTERS = 27;

/** A strong entity tag for these bytes. */
export function entityTag(body: Uint8Array): string {
  return `"${createHash("sha256").update(body).digest("base64url").slice(0, TAG_CHARACTERS)}"`;
}

/** Whether an If-None-Match header names the tag (RFC 9110, weak comparison). */
export function tagMatches(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return ifNoneMatch.split(",").some((one) => one.trim().replace(/^W\//, "") === tag);
}
