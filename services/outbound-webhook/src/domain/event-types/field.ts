import type { Timestamp } from "@bufbuild/protobuf/wkt";

/** Something in a report that its source has to mend; the message names the field. */
export class InvalidField extends Error {
  readonly field: string;
  readonly rule: string;

  constructor(field: string, rule: string) {
    super(`${field}: ${rule}`);
    this.name = "InvalidField";
    this.field = field;
    this.rule = rule;
  }

  /** The same for the message that holds this one. */
  within(field: string): InvalidField {
    return new InvalidField(`${field}.${this.field}`, this.rule);
  }
}

const MAX_SECONDS = 253_402_300_799n;
const CONTROL = /\p{Cc}/u;
const ISO_WITH_OFFSET =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,9})?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

export function present<T>(value: T | undefined, field: string): T {
  if (value === undefined) throw new InvalidField(field, "is missing");
  return value;
}

/** A text of 1 to `maxChars` characters without control characters. */
export function line(value: string, field: string, maxChars: number): string {
  if (value === "") throw new InvalidField(field, "is missing");
  if (value.length > maxChars) throw new InvalidField(field, `at most ${maxChars} characters`);
  if (CONTROL.test(value)) throw new InvalidField(field, "no control characters");
  return value;
}

/** The first `maxChars` Unicode code points. */
export function cut(value: string, maxChars: number): string {
  if (value.length <= maxChars) return value;
  let end = 0;
  for (let count = 0; count < maxChars && end < value.length; count += 1) {
    end += (value.codePointAt(end) as number) > 0xffff ? 2 : 1;
  }
  return value.slice(0, end);
}

/** One of the values of an enum; unset and unknown ones are refused. */
export function oneOf<T>(value: number, values: Readonly<Record<number, T>>, field: string): T {
  const found = values[value];
  if (found === undefined) throw new InvalidField(field, "is missing or unknown");
  return found;
}

export function seconds(value: Timestamp | undefined, field: string): bigint {
  const time = present(value, field);
  if (time.seconds < 0n || time.seconds > MAX_SECONDS) throw new InvalidField(field, "is no time after 1970");
  return time.seconds;
}

/** ISO 8601 in UTC, in whole seconds. */
export function utc(value: Timestamp | undefined, field: string): string {
  return new Date(Number(seconds(value, field)) * 1000).toISOString().replace(".000Z", "Z");
}

/** [EVT-34] A time as ISO 8601 with a numeric offset. */
export function withOffset(value: string, field: string): string {
  const [, day, zone] = ISO_WITH_OFFSET.exec(value) ?? [];
  if (!day || Number.isNaN(Date.parse(value)) || !isDay(day)) {
    throw new InvalidField(field, "is not ISO 8601 with offset, such as 2026-11-21T09:30:00+01:00");
  }
  return zone === "Z" ? `${value.slice(0, -1)}+00:00` : value;
}

/** The 30th of February is a time to Date.parse. */
function isDay(day: string): boolean {
  const time = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day);
}
