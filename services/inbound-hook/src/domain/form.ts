import { isUtf8 } from "node:buffer";

/**
 * [IN-20] The fields of a form: a text each, or a list of texts for a name that occurs several times. Undefined when a
 * percent-encoded name or value is not UTF-8. A `%` without two hexadecimal digits remains as it is.
 */
export function parseForm(text: string): Record<string, string | string[]> | undefined {
  const fields = new Map<string, string | string[]>();
  for (const part of text.split("&")) {
    if (part === "") continue;
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

const ESCAPED = /%([0-9a-fA-F]{2})/g;

function decode(encoded: string): string | undefined {
  const spaced = encoded.replaceAll("+", " ");
  if (!spaced.includes("%")) return spaced;
  const byteText = Buffer.from(spaced, "utf8").toString("latin1");
  const bytes = Buffer.from(
    byteText.replace(ESCAPED, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
  return isUtf8(bytes) ? bytes.toString("utf8") : undefined;
}
