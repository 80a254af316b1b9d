import { equalText } from "./constant-time.ts";

/** Longest `Authorization` value that is read at all, in UTF-16 units. */
export const MAX_BEARER_HEADER_CHARS = 2_048;

const BEARER = /^bearer +([^ ]+)$/i;

/**
 * True when an `Authorization` value is `Bearer <secret>`: the scheme in any case, the token exact, compared in
 * constant time. Never throws. [AUTH-14]
 */
export function verifyBearer(secret: string, header: string): boolean {
  if (header.length > MAX_BEARER_HEADER_CHARS) return false;
  const token = BEARER.exec(header)?.[1];
  return token !== undefined && equalText(token, secret);
}
