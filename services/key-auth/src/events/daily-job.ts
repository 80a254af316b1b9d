import { deleteParkedBefore } from "@toolgate/event-bus/parked-messages";
import type { Pool, Queryable } from "@toolgate/postgres/pool";
import { ensureDailyTables, LOG_RETENTION_DAYS, maintainDailyTables } from "@toolgate/postgres/retention";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { SERVICES } from "@toolgate/service-registry/services";
import { maintainSigningKeys } from "../login/signing-keys.ts";
import { deleteAuditEntriesBefore } from "../store/audit.ts";
import { deleteExpiredInvitations } from "../store/invitations.ts";
import { deleteExpiredPasswordLinks } from "../store/password-links.ts";
import { COUNTS_TABLE, USAGE_TABLE } from "../store/usage.ts";

const DAY_MS = 86_400_000;
const AUDIT_RETENTION_DAYS = 730;

const PARTITIONED = [
  { table: USAGE_TABLE, retentionDays: LOG_RETENTION_DAYS, exactBy: "at" },
  { table: COUNTS_TABLE, retentionDays: 1 },
];

/** [LOG-9] The daily job. Safe to repeat, on any replica. */
export async function maintainTables(pool: Pool, box: SecretBox, now: Date): Promise<void> {
  await maintainPartitions(pool, now);
  await maintainSigningKeys(pool, box, now);
  await pruneAuditLog(pool, now);
  await deleteExpiredInvitations(pool, now);
  await deleteExpiredPasswordLinks(pool, now);
  await deleteParkedBefore(pool, SERVICES["key-auth"].schema, new Date(now.getTime() - LOG_RETENTION_DAYS * DAY_MS));
}

export function ensurePartitions(db: Queryable, now: Date): Promise<void> {
  return ensureDailyTables(db, PARTITIONED, now);
}

/** [LOG-8] [LOG-9] Creates and drops partitions. */
export function maintainPartitions(db: Queryable, now: Date): Promise<void> {
  return maintainDailyTables(db, PARTITIONED, now);
}

export function pruneAuditLog(db: Queryable, now: Date): Promise<void> {
  return deleteAuditEntriesBefore(db, new Date(now.getTime() - AUDIT_RETENTION_DAYS * DAY_MS));
}
