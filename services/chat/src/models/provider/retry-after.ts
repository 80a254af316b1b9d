/**
 * The pause that a response asks for, in milliseconds: `retry-after-ms`, or `Retry-After` in seconds or as a date (RFC
 * 9110, 10.2.3). Undefined when it asks for none, or the header cannot be parsed.
 */
export function retryAfterMs(headers: Record<string, string | string[]>, nowMs: number): number | undefined {
  const exact = decimal([headers["retry-after-ms"]].flat()[0]);
  if (exact !== undefined) return exact;
  const text = [headers["retry-after"]].flat()[0];
  const seconds = decimal(text);
  if (seconds !== undefined) return seconds * 1_000;
  const at = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

function decimal(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}(?:\.\d{1,9})?$/.test(text.trim()) ? Number(text) : undefined;
}
