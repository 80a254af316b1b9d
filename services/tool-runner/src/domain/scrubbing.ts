import { REMOVED } from "@toolgate/redaction/redactor";
import { isJsonObject } from "./json-object.ts";

/**
 * A copy of a value in which secrets that a run has used are replaced, wherever they stand in texts and names: as they
 * are, percent-encoded, or in base64. The value itself when there are none.
 */
export function scrub(value: unknown, secrets: ReadonlySet<string>): unknown {
  return secrets.size === 0 ? value : scrubWith(value, [...secrets].flatMap(formsOf));
}

function formsOf(secret: string): string[] {
  const base64 = Buffer.from(secret).toString("base64");
  const url = Buffer.from(secret).toString("base64url");
  return [...new Set([secret, encodeURIComponent(secret), base64, base64.replace(/=+$/, ""), url])];
}

function scrubWith(value: unknown, forms: readonly string[]): unknown {
  if (typeof value === "string") return forms.reduce((text, form) => text.replaceAll(form, REMOVED), value);
  if (typeof value === "number") return forms.includes(String(value)) ? REMOVED : value;
  if (Array.isArray(value)) return value.map((item) => scrubWith(item, forms));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [scrubWith(name, forms), scrubWith(member, forms)]);
  return Object.fromEntries(members);
}
