import { REMOVED } from "@toolgate/redaction/redactor";
import { isJsonObject } from "../json-object.ts";

/**
 * A copy of a value without the secrets that a run has used: in texts, names and numbers; plain, percent-encoded or in
 * base64. The value itself if there are no secrets.
 */
export function removeSecrets<T>(value: T, secrets: ReadonlySet<string>): T {
  return secrets.size === 0 ? value : (removeForms(value, [...secrets].flatMap(formsOf)) as T);
}

function formsOf(secret: string): string[] {
  const base64 = Buffer.from(secret).toString("base64");
  const url = Buffer.from(secret).toString("base64url");
  return [...new Set([secret, encodeURIComponent(secret), base64, base64.replace(/=+$/, ""), url])];
}

function removeForms(value: unknown, forms: readonly string[]): unknown {
  if (typeof value === "string") return forms.reduce((text, form) => text.replaceAll(form, REMOVED), value);
  if (typeof value === "number") return forms.includes(String(value)) ? REMOVED : value;
  if (Array.isArray(value)) return value.map((item) => removeForms(item, forms));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [removeForms(name, forms), removeForms(member, forms)]);
  return Object.fromEntries(members);
}
