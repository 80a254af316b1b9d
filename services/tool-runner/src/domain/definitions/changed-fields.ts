import { isDeepStrictEqual } from "node:util";
import { isJsonObject, ownValue } from "@toolgate/rules/json-object";

/** The names, sorted, of the members that differ between two saved definitions. The order of members does not matter. */
export function changedFields(before: unknown, after: unknown): string[] {
  const old = isJsonObject(before) ? before : {};
  const saved = isJsonObject(after) ? after : {};
  const names = new Set([...Object.keys(old), ...Object.keys(saved)]);
  return [...names].filter((name) => !isDeepStrictEqual(ownValue(old, name), ownValue(saved, name))).toSorted();
}
