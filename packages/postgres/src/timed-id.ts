import { v7, validate, version } from "uuid";

const TIME_HEX_DIGITS = 12;

/** A UUID v7 for a row of a daily partitioned log. The creation time in it tells which partition has the row. */
export function newTimedId(now: Date): string {
  return v7({ msecs: now.getTime() });
}

/** The creation time in such an id; undefined for any other text. */
export function createdAtOf(id: string): Date | undefined {
  return validate(id) && version(id) === 7 ? timeOfId(id) : undefined;
}

/** The smallest id of that millisecond or later: ids sort by time. */
export function firstIdAt(time: Date): string {
  const hex = Math.max(0, Math.ceil(time.getTime())).toString(16).padStart(TIME_HEX_DIGITS, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`;
}

/** The time at the start of an id. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.replace("-", "").slice(0, TIME_HEX_DIGITS), 16));
}
