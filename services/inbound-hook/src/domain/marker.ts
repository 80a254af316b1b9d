/** [IN-44] True when a text or a name, at any depth, contains the opening braces of a template. */
export function containsMarker(value: unknown): boolean {
  if (typeof value === "string") return value.includes("{{");
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, member]) => name.includes("{{") || containsMarker(member));
}
