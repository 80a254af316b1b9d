import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { hasControlCharacters } from "@toolgate/rules/name";

/** A field of a report breaks a rule. The message names the field and the rule. */
export class InvalidField extends Error {
  readonly field: string;
  readonly rule: string;

  constructor(field: string, rule: string) {
    super(`${field}: ${rule}`);
    this.name = "InvalidField";
    this.field = field;
    this.rule = rule;
  }

  /** The same violation, with the path that starts at the enclosing message. */
  within(parent: string): InvalidField {
    return new InvalidField(`${parent}.${this.field}`, this.rule);
  }
}

const LAST_SECOND_OF_9999 = 253_402_300_799n;
const ISO_WITH_OFFSET =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,9})?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

export function present<T>(value: T | undefined, field: string): T {
  if (value === undefined) throw new InvalidField(field, "missing");
  return value;
}

/** A string of 1 to `maxChars` characters without control characters. */
export function line(value: string, field: string, maxChars: number): string {
  if (value === "") throw new InvalidField(field, "missing");
  if (value.length > maxChars) throw new InvalidField(field, `must have at most ${maxChars} characters`);
  if (hasControlCharacters(value)) throw new InvalidField(field, "must not contain control characters");
  return value;
}

/** The first `maxChars` Unicode code points. */
export function cut(value: string, maxChars: number): string {
  if (value.length <= maxChars) return value;
  return Array.from(value.slice(0, maxChars * 2))
    .slice(0, maxChars)
    .join("");
}

/** The name of a value of a proto enum in lower case; unset and unknown values are refused. */
export function nameOf(values: Readonly<Record<number, string>>, value: number, field: string): string {
  const name = values[value];
  if (value === 0 || name === undefined) throw new InvalidField(field, "missing or unknown");
  return name.toLowerCase();
}

/** Whole seconds since 1970. */
export function seconds(value: Timestamp | undefined, field: string): bigint {
  const time = present(value, field);
  if (time.seconds >= 0n && time.seconds <= LAST_SECOND_OF_9999) return time.seconds;
  throw new InvalidField(field, "must be a time from 1970 to 9999");
}

/** ISO 8601 in UTC, in whole seconds. */
export function utc(value: Timestamp | undefined, field: string): string {
  return new Date(Number(seconds(value, field)) * 1000).toISOString().replace(".000Z", "Z");
}

/** A time as ISO 8601 with a numeric offset. [EVT-34] */
export function withOffset(value: string, field: string): string {
  const [, day = "", zone] = ISO_WITH_OFFSET.exec(value) ?? [];
  if (day === "" || Number.isNaN(Date.parse(value)) || !isDay(day)) {
    throw new InvalidField(field, "must be ISO 8601 with offset, such as 2026-11-21T09:30:00+01:00");
  }
  return zone === "Z" ? `${value.slice(0, -1)}+00:00` : value;
}

/** `Date.parse` reads 30 February as 2 March. */
function isDay(day: string): boolean {
  const time = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day);
}
