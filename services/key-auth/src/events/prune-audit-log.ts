import type { Queryable } from "@toolgate/postgres/pool";
import { deleteAuditEntriesBefore } from "../store/audit.ts";

const DAY_MS = 86_400_000;
const RETENTION_DAYS = 730;

export function pruneAuditLog(db: Queryable, now: Date): Promise<void> {
  return deleteAuditEntriesBefore(db, new Date(now.getTime() - RETENTION_DAYS * DAY_MS));
}
