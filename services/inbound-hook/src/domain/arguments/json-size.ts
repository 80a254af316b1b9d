/** An estimate: the sizes here only bound work and memory. */
const NUMBER_BYTES = 8;
const LITERAL_BYTES = 4;
/** Two quotation marks, or two brackets. */
const DELIMITER_BYTES = 2;
const SEPARATOR_BYTES = 1;

/**
 * `bytes` minus the approximate length of the value's JSON text; escapes are not counted. Negative when the value does
 * not fit: then the rest of it is not read.
 */
export function bytesLeftAfter(value: unknown, bytes: number): number {
  if (typeof value === "string") return bytes - DELIMITER_BYTES - Buffer.byteLength(value);
  if (typeof value === "number") return bytes - NUMBER_BYTES;
  if (typeof value !== "object" || value === null) return bytes - LITERAL_BYTES;
  let left = bytes - DELIMITER_BYTES;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (left < 0) break;
      left = bytesLeftAfter(item, left) - SEPARATOR_BYTES;
    }
    return left;
  }
  for (const [name, member] of Object.entries(value)) {
    if (left < 0) break;
    left = bytesLeftAfter(member, left - DELIMITER_BYTES - Buffer.byteLength(name)) - 2 * SEPARATOR_BYTES;
  }
  return left;
}

/** The approximate length of a value's JSON text, in bytes. */
export function sizeOf(value: unknown): number {
  return Number.MAX_SAFE_INTEGER - bytesLeftAfter(value, Number.MAX_SAFE_INTEGER);
}
