import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";

/** What JSON can show: RFC 3339 has the years 1 to 9999. */
const FIRST_MS = Date.parse("0001-01-01T00:00:00Z");
export const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");
const MS_PER_S = 1_000;
const NANOS_PER_MS = 1_000_000;

/**
 * The time in a field of a request; undefined when the request leaves it out. Parts of a millisecond are dropped: rounded
 * up, the last time of 9999 could not be shown again. Throws for a time before 1970 or after 9999.
 */
export function requestTime(name: string, timestamp: Timestamp | undefined): Date | undefined {
  if (!timestamp) return undefined;
  const ms = Number(timestamp.seconds) * MS_PER_S + Math.floor(timestamp.nanos / NANOS_PER_MS);
  if (ms >= 0 && ms <= LAST_MS) return new Date(ms);
  throw new ConnectError(`${name}: must be a time from 1970 to 9999`, Code.InvalidArgument);
}

/** A stored time, for a response. One that JSON cannot show becomes the nearest that it can, so that its row is shown. */
export function timestampOf(date: Date): Timestamp {
  return timestampFromMs(Math.min(LAST_MS, Math.max(FIRST_MS, date.getTime())));
}

const HOUR_MS = 3_600_000;

/** The start of the first of the 24 hours of which this one is the last. */
export function firstOfHours(nowMs: number): Date {
  return new Date((Math.floor(nowMs / HOUR_MS) - 23) * HOUR_MS);
}

/** The counts of the 24 hours from this first one; hours without a row have 0. */
export function countsByHour(firstHour: Date, rows: readonly { hour: Date; count: number }[]): number[] {
  const counts = Array<number>(24).fill(0);
  for (const { hour, count } of rows) {
    const place = Math.round((hour.getTime() - firstHour.getTime()) / HOUR_MS);
    if (place in counts) counts[place] = count;
  }
  return counts;
}
