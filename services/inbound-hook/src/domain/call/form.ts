import { isUtf8 } from "node:buffer";

/** Parsing more would delay other calls. */
export const MAX_FORM_FIELDS = 1_000;

/**
 * [IN-20] The fields of a form in UTF-8: a string each, or a list of strings for a name that occurs several times.
 * Undefined when a percent-encoded name or value is not UTF-8, or when there are more than MAX_FORM_FIELDS. A `%`
 * without two hexadecimal digits remains as it is.
 */
export function parseForm(bytes: Uint8Array): Record<string, string | string[]> | undefined {
  // A character for each byte, so that encoded and plain bytes can be told apart until both are decoded.
  const parts = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString("latin1")
    .split("&")
    .filter((part) => part !== "");
  if (parts.length > MAX_FORM_FIELDS) return undefined;
  const fields = new Map<string, string | string[]>();
  for (const part of parts) {
    const equals = part.indexOf("=");
    const name = decode(equals === -1 ? part : part.slice(0, equals));
    const value = decode(equals === -1 ? "" : part.slice(equals + 1));
    if (name === undefined || value === undefined) return undefined;
    const earlier = fields.get(name);
    if (Array.isArray(earlier)) earlier.push(value);
    else fields.set(name, earlier === undefined ? value : [earlier, value]);
  }
  // Unlike an assignment, this makes a field named __proto__ an ordinary member.
  return Object.fromEntries(fields);
}

function decode(encoded: string): string | undefined {
  const text = encoded
    .replaceAll("+", " ")
    .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const decoded = Buffer.from(text, "latin1");
  return isUtf8(decoded) ? decoded.toString("utf8") : undefined;
}
