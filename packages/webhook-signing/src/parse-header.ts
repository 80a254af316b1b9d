/** Longest signature header that is read at all, in UTF-16 units; a longer one is malformed. */
export const MAX_SIGNATURE_HEADER_CHARS = 2_048;

/** Longest `t` that is read, in digits; keeps every accepted value a safe integer. */
export const MAX_TIME_DIGITS = 15;

const DIGITS = /^[0-9]+$/;

/**
 * A signature header taken apart: the Unix time in seconds, its text as sent, and every `v1` as sent.
 * The signed string holds the time as sent, so `timeText` is what must be hashed.
 */
export type ParsedSignature = { ok: true; unixTime: number; timeText: string; v1: readonly string[] };

/** A header that cannot be a signature of this format. */
export type MalformedSignature = { ok: false; reason: "malformed" };

/**
 * Reads `t=<unix time>,v1=<hex>[,v1=<hex>…]`. Order is free, unknown parts (such as `v0`) are ignored,
 * several `v1` are allowed. Malformed: no `t`, several `t`, a `t` that is not a run of at most
 * MAX_TIME_DIGITS digits, no `v1`, or a header over MAX_SIGNATURE_HEADER_CHARS. Never throws. [AUTH]
 */
export function parseSignatureHeader(value: string): ParsedSignature | MalformedSignature {
  const malformed = { ok: false, reason: "malformed" } as const;
  if (value.length > MAX_SIGNATURE_HEADER_CHARS) return malformed;
  let timeText: string | undefined;
  const v1: string[] = [];
  for (const part of value.split(",")) {
    const equals = part.indexOf("=");
    if (equals < 0) continue;
    const name = part.slice(0, equals).trim();
    const content = part.slice(equals + 1).trim();
    if (name === "v1") v1.push(content);
    if (name !== "t") continue;
    if (timeText !== undefined || content.length > MAX_TIME_DIGITS || !DIGITS.test(content)) return malformed;
    timeText = content;
  }
  if (timeText === undefined || v1.length === 0) return malformed;
  return { ok: true, unixTime: Number(timeText), timeText, v1 };
}
