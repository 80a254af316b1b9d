/** [IN-44] True when a text or a name, at any depth, contains the opening braces of a template. */
export function containsTemplateMarker(value: unknown): boolean {
  return someText(value, (text) => text.includes("{{"));
}

/** True when PostgreSQL cannot store a text or a name, at any depth, because of a NUL or an unpaired surrogate. */
export function containsUnstorableText(value: unknown): boolean {
  return someText(value, (text) => text.includes("\0") || !text.isWellFormed());
}

function someText(value: unknown, test: (text: string) => boolean): boolean {
  if (typeof value === "string") return test(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, member]) => test(name) || someText(member, test));
}
