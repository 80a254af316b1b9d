import { MAX_RESPONSE_CHARS } from "./outcome.ts";

const MAX_BYTES_PER_CHAR = 4;

/**
 * The first characters of a response as text: UTF-8 with replacement, cut between characters. NUL, which a database
 * text can't hold, is replaced too. [OUT-13]
 */
export function responseText(body: Uint8Array): string {
  const enough = body.subarray(0, MAX_RESPONSE_CHARS * MAX_BYTES_PER_CHAR);
  const text = new TextDecoder().decode(enough).replaceAll("\0", "\uFFFD");
  if (text.length <= MAX_RESPONSE_CHARS) return text;
  return Array.from(text).slice(0, MAX_RESPONSE_CHARS).join("");
}
