import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** A definition as lines for people: its members in the order of their names, and last its handler as the code it is. */
export function definitionLines(definition: JsonObject): string[] {
  const { handler, ...rest } = definition;
  const lines = JSON.stringify(sorted(rest), null, 2).split("\n");
  return typeof handler === "string" ? [...lines, "handler:", ...handler.split("\n")] : lines;
}

/** Whether two definitions say the same; the order of their members does not matter. */
export function isSame(a: JsonObject, b: JsonObject): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member)]));
}
