/** Longest signature header that is read at all, in UTF-16 units; a longer one is malformed. */
export const MAX_SIGNATURE_HEADER_CHARS = 2_048;

/** At most this many digits of `t` are accepted, so that every accepted value is a safe integer. */
const MAX_TIME_DIGITS = 15;

/**
 * Reads `t=<unix time>,v1=<hex>[,v1=<hex>…]`. Order is free, unknown parts (such as `v0`) are ignored, several `v1` are
 * allowed. `unixTime` is in seconds; the signed text contains the time as sent, which is `timeText`. Undefined when
 * malformed: no `t`, several `t`, a `t` that is not a Unix time, no `v1`, or a header over MAX_SIGNATURE_HEADER_CHARS.
 * Never throws. [AUTH]
 */
export function parseSignatureHeader(
  value: string,
): { unixTime: number; timeText: string; v1: readonly string[] } | undefined {
  if (value.length > MAX_SIGNATURE_HEADER_CHARS) return undefined;
  const times: string[] = [];
  const v1: string[] = [];
  for (const part of value.split(",")) {
    const [, name, content = ""] = /^([^=]*)=(.*)$/s.exec(part) ?? [];
    if (name?.trim() === "t") times.push(content.trim());
    if (name?.trim() === "v1") v1.push(content.trim());
  }
  const [timeText = "", ...otherTimes] = times;
  const unixTime = parseUnixTime(timeText);
  if (unixTime === undefined || otherTimes.length > 0 || v1.length === 0) return undefined;
  return { unixTime, timeText, v1 };
}

/** The value of a run of up to 15 digits; undefined for other text. */
export function parseUnixTime(text: string): number | undefined {
  return text.length <= MAX_TIME_DIGITS && /^[0-9]+$/.test(text) ? Number(text) : undefined;
}
