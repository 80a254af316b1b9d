import { isDeepStrictEqual } from "node:util";
import { isJsonObject, ownValue } from "./json-object.ts";

/** The members that differ between two saved definitions, in whatever order each holds them. By name. */
export function changedFields(before: unknown, after: unknown): string[] {
  const old = isJsonObject(before) ? before : {};
  const young = isJsonObject(after) ? after : {};
  const names = new Set([...Object.keys(old), ...Object.keys(young)]);
  return [...names].filter((name) => !isDeepStrictEqual(ownValue(old, name), ownValue(young, name))).toSorted();
}
