export type JsonObject = Record<string, unknown>;

/** An object in the sense of JSON: neither null nor a list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What an object itself holds under a name; nothing that it inherits. */
export function ownValue(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** True when objects and lists are nested more than `levels` deep. A scalar has depth 0. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === "object" && isDeeperThan(item, levels - 1)) return true;
    }
    return false;
  }
  for (const name in value) {
    const member = (value as JsonObject)[name];
    if (typeof member === "object" && isDeeperThan(member, levels - 1)) return true;
  }
  return false;
}

/** [IN-44] True when a text or a name, at any depth, holds the two braces of a template. */
export function holdsTemplateMarker(value: unknown): boolean {
  if (typeof value === "string") return value.includes("{{");
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, member]) => name.includes("{{") || holdsTemplateMarker(member));
}

/** True when a text or a name, at any depth, is one that PostgreSQL cannot hold: with NUL or half a surrogate pair. */
export function holdsUnstorableText(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\0") || !value.isWellFormed();
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, member]) => holdsUnstorableText(name) || holdsUnstorableText(member));
}
