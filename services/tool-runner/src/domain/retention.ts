const DAY_MS = 86_400_000;
/** [LOG-8] */
export const LOG_RETENTION_DAYS = 90;

/** Runs that started before this time, 90 times 24 hours ago, are neither kept nor shown. */
export function keptSince(nowMs: number): Date {
  return new Date(nowMs - LOG_RETENTION_DAYS * DAY_MS);
}
