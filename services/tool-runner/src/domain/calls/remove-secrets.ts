import { isJsonObject } from "@toolgate/json/json-object";
import { REMOVED } from "@toolgate/redaction/redactor";

/**
 * A copy of a value without the secrets that a run has used: in texts, names and numbers; as written, percent-encoded,
 * HTML-encoded, in base64, or within something longer in base64, such as Basic credentials. Other forms of a secret (hex,
 * reversed, in pieces) are not found. The value itself if there are no secrets.
 */
export function removeSecrets<T>(value: T, secrets: ReadonlySet<string>): T {
  return secrets.size === 0 ? value : (removeForms(value, [...secrets].flatMap(formsOf)) as T);
}

function formsOf(secret: string): string[] {
  const base64 = Buffer.from(secret).toString("base64");
  const url = Buffer.from(secret).toString("base64url");
  const encoded = encodeURIComponent(secret);
  const lower = encoded.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase());
  const forms = [secret, encoded, lower, encoded.replaceAll("%20", "+"), ...htmlForms(secret)];
  forms.push(base64, base64.replace(/=+$/, ""), url, ...withinBase64(secret));
  // A form that contains another one must be removed first.
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

/** As the usual libraries escape text for HTML: they differ only in quotes. */
function htmlForms(secret: string): string[] {
  const text = secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const quoted = text.replaceAll('"', "&quot;");
  const quotes = ["&#39;", "&#x27;", "&apos;"].map((quote) => quoted.replaceAll("'", quote));
  return [text, quoted, ...quotes, text.replaceAll('"', "&#34;").replaceAll("'", "&#39;")];
}

const BITS = { ofByte: 8, ofCharacter: 6 };

/**
 * What remains the same when the base64 of a longer text contains the secret, for each of its three alignments: the
 * characters that depend on nothing but the secret.
 */
function withinBase64(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((before) => {
    const start = Math.ceil((before * BITS.ofByte) / BITS.ofCharacter);
    const end = Math.floor(((before + bytes.length) * BITS.ofByte) / BITS.ofCharacter);
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    return [padded.toString("base64").slice(start, end), padded.toString("base64url").slice(start, end)];
  });
}

function removeForms(value: unknown, forms: readonly string[]): unknown {
  if (typeof value === "string") return forms.reduce((text, form) => text.replaceAll(form, REMOVED), value);
  if (typeof value === "number") return forms.includes(String(value)) ? REMOVED : value;
  if (Array.isArray(value)) return value.map((item) => removeForms(item, forms));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [removeForms(name, forms), removeForms(member, forms)]);
  return Object.fromEntries(members);
}
