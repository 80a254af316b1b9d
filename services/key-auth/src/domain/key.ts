import { LAST_MS } from "@toolgate/service-host/time";

/** [KEY-4] [KEY-5] Calls per minute. */
export const DEFAULT_LIMIT = 60;
export const MIN_LIMIT = 1;
export const MAX_LIMIT = 10_000;

export const MAX_NAME_CHARACTERS = 200;
export const MAX_TOOLS = 500;
export const MAX_NETWORKS = 100;
export const MAX_OVERLAP_S = 7 * 86_400;

/** Its epoch keeps the copies of the key in memory current. */
export const epochScope = (keyId: string) => `key:${keyId}`;

export type KeyStatus = "active" | "revoked" | "expired";

/** [KEY-8] A revoked key stays revoked when it expires. Expiry is computed, never stored. */
export function statusOf(key: { revokedAt: Date | null; expiresAt: Date | null }, now: Date): KeyStatus {
  if (key.revokedAt) return "revoked";
  return key.expiresAt && key.expiresAt.getTime() <= now.getTime() ? "expired" : "active";
}

/** A replaced secret is valid until its overlap ends. */
export function isSecretValid(secret: { secretValidUntil: Date | null }, now: Date): boolean {
  return secret.secretValidUntil === null || now.getTime() < secret.secretValidUntil.getTime();
}

/** The overlap of a rotation does not outlast the key. */
export function overlapEnd(now: Date, overlapSeconds: number, expiresAt: Date | null): Date {
  const end = now.getTime() + overlapSeconds * 1000;
  return new Date(expiresAt ? Math.min(end, expiresAt.getTime()) : end);
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DAY_MS = 86_400_000;

/**
 * The end of a day in UTC, when a key with this expiry date becomes invalid; that of the last day that JSON can show is its
 * last millisecond. Undefined if it is not a date since 1970.
 */
export function endOfDay(date: string): Date | undefined {
  if (!DATE.test(date)) return undefined;
  const start = new Date(`${date}T00:00:00Z`);
  if (!(start.getTime() >= 0) || !start.toISOString().startsWith(date)) return undefined;
  return new Date(Math.min(start.getTime() + DAY_MS, LAST_MS));
}
