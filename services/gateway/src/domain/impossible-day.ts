import type { DescMessage } from "@bufbuild/protobuf";
import { isJsonObject, ownValue } from "@toolgate/rules/json-object";

const TIMESTAMP = "google.protobuf.Timestamp";
/** These have a JSON form of their own. */
const WELL_KNOWN = "google.protobuf.";
const DAY = /^(\d{4})-(\d{2})-(\d{2})T/;

/**
 * The name of a field of a request in JSON whose time has a day that its month does not have, such as 30 February; undefined
 * if there is none. Without this check it would silently become a day of the next month.
 */
export function impossibleDay(message: DescMessage, json: unknown): string | undefined {
  if (!isJsonObject(json)) return undefined;
  for (const { message: inner, fieldKind, jsonName, name } of message.fields) {
    if (!inner) continue;
    const value = ownValue(json, jsonName) ?? ownValue(json, name);
    const values = fieldKind === "map" && isJsonObject(value) ? Object.values(value) : [value].flat();
    for (const one of values) {
      if (inner.typeName === TIMESTAMP && isImpossible(one)) return name;
      const found = inner.typeName.startsWith(WELL_KNOWN) ? undefined : impossibleDay(inner, one);
      if (found) return `${name}.${found}`;
    }
  }
  return undefined;
}

function isImpossible(time: unknown): boolean {
  const [, year, month, day] = (typeof time === "string" ? DAY.exec(time) : null)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  // The calendar repeats after 400 years, and Date.UTC reads the years 0 to 99 as 1900 to 1999.
  return new Date(Date.UTC(2000 + (year % 400), month - 1, day)).getUTCDate() !== day;
}
