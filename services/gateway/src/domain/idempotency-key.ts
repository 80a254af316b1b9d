import type { Violation } from "./responses.ts";

export const IDEMPOTENCY_KEY_HEADER = "idempotency-key";

const MAX_CHARACTERS = 255;
const VISIBLE = /^[!-~]+$/;

/** The Idempotency-Key header of a call; the key is "" when there is none or when it violates the rule. */
export function readIdempotencyKey(header: string | string[] | undefined): { key: string; violation?: Violation } {
  if (header === undefined) return { key: "" };
  if (typeof header === "string" && header.length <= MAX_CHARACTERS && VISIBLE.test(header)) return { key: header };
  const message = `must have 1 to ${MAX_CHARACTERS} visible ASCII characters`;
  return { key: "", violation: { field: "Idempotency-Key", rule: "header", message } };
}
