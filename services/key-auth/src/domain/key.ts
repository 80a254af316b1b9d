/** [KEY-4] [KEY-5] Calls per minute. */
export const DEFAULT_LIMIT = 60;
export const MIN_LIMIT = 1;
export const MAX_LIMIT = 10_000;

export const MAX_NAME_CHARACTERS = 200;
export const MAX_TOOLS = 500;
export const MAX_NETWORKS = 100;
export const MAX_OVERLAP_S = 7 * 86_400;

export type KeyStatus = "active" | "revoked" | "expired";

/** [KEY-8] Revoked wins over expired; expiry is derived, never stored. */
export function statusOf(key: { revokedAt: Date | null; expiresAt: Date | null }, now: Date): KeyStatus {
  if (key.revokedAt) return "revoked";
  return key.expiresAt && key.expiresAt.getTime() <= now.getTime() ? "expired" : "active";
}

/** Whether a secret opens its key: always the current one, one that was replaced until its overlap ends. */
export function secretHolds(secret: { secretValidUntil: Date | null }, now: Date): boolean {
  return secret.secretValidUntil === null || now.getTime() < secret.secretValidUntil.getTime();
}

/** The end of a rotation's overlap: never past the expiry of the key. */
export function overlapEnd(now: Date, overlapSeconds: number, expiresAt: Date | null): Date {
  const end = now.getTime() + overlapSeconds * 1000;
  return new Date(expiresAt ? Math.min(end, expiresAt.getTime()) : end);
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;

/** The first instant at which a key given a date is invalid: the end of that day in UTC. Undefined: no such date. */
export function endOfDay(date: string): Date | undefined {
  if (!DATE.test(date)) return undefined;
  const start = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(start.getTime()) || !start.toISOString().startsWith(date)) return undefined;
  return new Date(start.getTime() + DAY_MS);
}
