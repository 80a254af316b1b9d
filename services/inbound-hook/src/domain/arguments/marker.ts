/** [IN-44] True when a string or a name, at any depth, contains `{{`. */
export function containsMarker(value: unknown): boolean {
  if (typeof value === "string") return value.includes("{{");
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, member]) => name.includes("{{") || containsMarker(member));
}
