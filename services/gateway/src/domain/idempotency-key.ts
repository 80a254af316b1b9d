import type { Violation } from "./answers.ts";

const MAX_CHARACTERS = 255;
const VISIBLE = /^[!-~]+$/;

export type IdempotencyKey = { ok: true; key: string } | { ok: false; violation: Violation };

/** The Idempotency-Key header of a call; "" when there is none. */
export function readIdempotencyKey(header: string | string[] | undefined): IdempotencyKey {
  if (header === undefined) return { ok: true, key: "" };
  if (typeof header === "string" && header.length <= MAX_CHARACTERS && VISIBLE.test(header))
    return { ok: true, key: header };
  const message = `must have 1 to ${MAX_CHARACTERS} visible ASCII characters`;
  return { ok: false, violation: { field: "Idempotency-Key", rule: "header", message } };
}
