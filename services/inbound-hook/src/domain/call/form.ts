import { isUtf8 } from "node:buffer";

/** Parsing more would delay other calls. */
export const MAX_FORM_FIELDS = 1_000;

const [AMPERSAND, EQUALS, PERCENT, PLUS, SPACE] = Buffer.from("&=%+ ");

/**
 * [IN-20] The fields of a form in UTF-8: a string each, or a list of strings for a name that occurs several times.
 * Undefined when a percent-encoded name or value is not UTF-8, or when there are more than MAX_FORM_FIELDS. A `%`
 * without two hexadecimal digits remains as it is.
 */
export function parseForm(bytes: Uint8Array): Record<string, string | string[]> | undefined {
  const fields = new Map<string, string | string[]>();
  let count = 0;
  for (let start = 0; start < bytes.length; ) {
    if (bytes[start] === AMPERSAND) {
      start += 1;
      continue;
    }
    const ampersand = bytes.indexOf(AMPERSAND as number, start);
    const end = ampersand === -1 ? bytes.length : ampersand;
    count += 1;
    const field = count > MAX_FORM_FIELDS ? undefined : parseField(bytes.subarray(start, end));
    if (!field) return undefined;
    const { name, value } = field;
    const earlier = fields.get(name);
    if (Array.isArray(earlier)) earlier.push(value);
    else fields.set(name, earlier === undefined ? value : [earlier, value]);
    start = end + 1;
  }
  // Unlike an assignment, this makes a field named __proto__ an ordinary member.
  return Object.fromEntries(fields);
}

function parseField(bytes: Uint8Array): { name: string; value: string } | undefined {
  const equals = bytes.indexOf(EQUALS as number);
  const name = decode(equals === -1 ? bytes : bytes.subarray(0, equals));
  const value = equals === -1 ? "" : decode(bytes.subarray(equals + 1));
  return name === undefined || value === undefined ? undefined : { name, value };
}

function decode(encoded: Uint8Array): string | undefined {
  const decoded = Buffer.allocUnsafe(encoded.length);
  let length = 0;
  for (let at = 0; at < encoded.length; at += 1) {
    const byte = encoded[at] as number;
    const escaped = byte === PERCENT ? 16 * hexDigit(encoded[at + 1]) + hexDigit(encoded[at + 2]) : Number.NaN;
    if (!Number.isNaN(escaped)) at += 2;
    decoded[length] = Number.isNaN(escaped) ? (byte === PLUS ? (SPACE as number) : byte) : escaped;
    length += 1;
  }
  const text = decoded.subarray(0, length);
  return isUtf8(text) ? text.toString("utf8") : undefined;
}

/** NaN for anything else. */
function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return Number.NaN;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}
