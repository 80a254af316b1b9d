import { MAX_RESPONSE_CHARS } from "./outcome.ts";

const MAX_BYTES_PER_CHAR = 4;

/** The start of a response as UTF-8 text, cut between characters. NUL, which Postgres refuses, is replaced. [OUT-13] */
export function responseText(body: Uint8Array): string {
  const enough = body.subarray(0, MAX_RESPONSE_CHARS * MAX_BYTES_PER_CHAR);
  const text = new TextDecoder().decode(enough).replaceAll("\0", "\uFFFD");
  return Array.from(text).slice(0, MAX_RESPONSE_CHARS).join("");
}
