import { deleteParkedBefore } from "@toolgate/event-bus/parked-messages";
import type { Queryable } from "@toolgate/postgres/pool";
import { ensureDailyTables, LOG_RETENTION_DAYS, maintainDailyTables } from "@toolgate/postgres/retention";
import { SERVICES } from "@toolgate/service-registry/services";
import { EXECUTIONS_TABLE } from "../store/executions.ts";
import { IDEMPOTENT_BYTES_TABLE, IDEMPOTENT_CALLS_TABLE } from "../store/idempotent-calls.ts";
import { deleteProposalsBefore } from "../store/proposals.ts";

const TABLES = [
  { table: EXECUTIONS_TABLE, retentionDays: LOG_RETENTION_DAYS, exactBy: "started_at" },
  { table: IDEMPOTENT_CALLS_TABLE, retentionDays: 1 },
  { table: IDEMPOTENT_BYTES_TABLE, retentionDays: 1 },
];

/** As long as the calls of tools that chats show. */
const PROPOSAL_RETENTION_DAYS = 30;
const DAY_MS = 86_400_000;

export function ensurePartitions(db: Queryable, now: Date): Promise<void> {
  return ensureDailyTables(db, TABLES, now);
}

/** [LOG-8] [LOG-9] The daily job. Safe to repeat. */
export async function maintainPartitions(db: Queryable, now: Date): Promise<void> {
  const { schema } = SERVICES["tool-runner"];
  await deleteParkedBefore(db, schema, new Date(now.getTime() - LOG_RETENTION_DAYS * DAY_MS));
  await deleteProposalsBefore(db, new Date(now.getTime() - PROPOSAL_RETENTION_DAYS * DAY_MS));
  await maintainDailyTables(db, TABLES, now);
}
