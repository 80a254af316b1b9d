/** What a declarative tool calls. Everything but the method may contain placeholders. */
export type ApiBody = {
  kind: "api";
  method: string;
  url: string;
  headers: Record<string, string>;
  /** A template in JSON; undefined when the call has no body. */
  body: unknown;
};

const PLACEHOLDER = /\{\{\s*([^{}\s]+)\s*\}\}/g;
const WHOLE = /^\{\{\s*([^{}\s]+)\s*\}\}$/;

/** The names in the placeholders of a text, in order. */
export function namesIn(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? "");
}

/** The name, when the text is one placeholder and nothing else. */
export function wholeName(text: string): string | undefined {
  return WHOLE.exec(text)?.[1];
}

/** Replaces every placeholder for whose name there is a text once; placeholders in these texts are not replaced. */
export function fillIn(text: string, textFor: (name: string) => string | undefined): string {
  return text.replace(PLACEHOLDER, (placeholder, name: string) => textFor(name) ?? placeholder);
}

/** True when an opening `{{` does not start a placeholder. */
export function hasStrayOpening(text: string): boolean {
  return text.replace(PLACEHOLDER, "\n").includes("{{");
}

/** Every text of an api call that may contain placeholders, with its path: `api.url`, `api.body.items.0`. */
export function templateTexts({ url, headers, body }: ApiBody): { path: string; text: string }[] {
  return [...textsOf(url, "api.url"), ...textsOf(headers, "api.headers"), ...textsOf(body, "api.body")];
}

function textsOf(template: unknown, path: string): { path: string; text: string }[] {
  if (typeof template === "string") return [{ path, text: template }];
  if (typeof template !== "object" || template === null) return [];
  return Object.entries(template).flatMap(([name, member]) => textsOf(member, `${path}.${name}`));
}
