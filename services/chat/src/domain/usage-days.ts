const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;
const DAY = /^\d{4}-\d\d-\d\d$/;

/** Both days are included. */
export type Days = { first: string; last: string };

/** The days of a question about usage, with defaults for empty ones; or the rule that they break. */
export function usageDays(
  { firstDay, lastDay }: { firstDay: string; lastDay: string },
  now: Date,
): { ok: true; days: Days } | { ok: false; violation: string } {
  const last = lastDay === "" ? dayOf(now.getTime()) : lastDay;
  if (!isDay(last)) return { ok: false, violation: "last_day: must be a day such as 2026-01-31" };
  const lastMs = Date.parse(last);
  const first = firstDay === "" ? dayOf(lastMs - (DEFAULT_DAYS - 1) * DAY_MS) : firstDay;
  if (!isDay(first)) return { ok: false, violation: "first_day: must be a day such as 2026-01-31" };
  const count = (lastMs - Date.parse(first)) / DAY_MS + 1;
  if (count < 1) return { ok: false, violation: "first_day: must not be after last_day" };
  if (count > MAX_DAYS) return { ok: false, violation: `first_day: at most ${MAX_DAYS} days` };
  return { ok: true, days: { first, last } };
}

function isDay(text: string): boolean {
  if (!DAY.test(text)) return false;
  const ms = Date.parse(text);
  // 30 February is read as a day of March.
  return !Number.isNaN(ms) && dayOf(ms) === text && text >= "1970-01-01";
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
