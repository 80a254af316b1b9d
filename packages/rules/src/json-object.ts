/** An object as `JSON.parse` returns it. */
export type JsonObject = Record<string, unknown>;

/** True for an object in the sense of JSON: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A member of the object itself, not an inherited one. */
export function ownValue(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** True when objects and arrays are nested more than `levels` deep. A scalar has depth 0. Called for every run: fast. */
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
