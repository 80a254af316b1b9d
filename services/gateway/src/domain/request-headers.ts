import { isWellFormed } from "@toolgate/rules/api-key-secret";
import type { Violation } from "./responses.ts";

export const IDEMPOTENCY_KEY_HEADER = "idempotency-key";

const BEARER = /^bearer +(\S+)$/i;
const MAX_IDEMPOTENCY_KEY_CHARACTERS = 255;
const VISIBLE = /^[!-~]+$/;

/** The token of an Authorization header; undefined for anything else. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : BEARER.exec(authorization.trim())?.[1];
}

/** [TOOL-7] The API key of a request; undefined when there is none or it is malformed. */
export function apiKeyOf(authorization: string | undefined): string | undefined {
  const token = bearerToken(authorization);
  return token !== undefined && isWellFormed(token) ? token : undefined;
}

/** The Idempotency-Key header of a call; the key is "" when there is none or when it is malformed. */
export function readIdempotencyKey(header: string | string[] | undefined): { key: string; violation?: Violation } {
  if (header === undefined) return { key: "" };
  const isValid = typeof header === "string" && header.length <= MAX_IDEMPOTENCY_KEY_CHARACTERS && VISIBLE.test(header);
  if (isValid) return { key: header };
  const message = `must have 1 to ${MAX_IDEMPOTENCY_KEY_CHARACTERS} visible ASCII characters`;
  return { key: "", violation: { field: "Idempotency-Key", rule: "header", message } };
}
