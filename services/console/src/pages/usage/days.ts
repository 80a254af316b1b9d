const DAY_MS = 86_400_000;

/** The last so many days in UTC up to today, such as 2026-01-31. */
export function lastDays(count: number, now: Date): string[] {
  return Array.from({ length: count }, (_, index) =>
    new Date(now.getTime() - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
}
