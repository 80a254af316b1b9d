const DAY_MS = 86_400_000;
/** [LOG-8] */
export const LOG_RETENTION_DAYS = 90;

/** Older calls are neither kept nor shown: 90 times 24 hours ago. */
export function keptSince(now: Date): Date {
  return new Date(now.getTime() - LOG_RETENTION_DAYS * DAY_MS);
}
