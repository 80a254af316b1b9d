import { fromBinary } from "@bufbuild/protobuf";
import { type AuditRecord, AuditRecordSchema } from "@toolgate/gen/toolgate/events/v1/audit_pb";
import type { Pool } from "@toolgate/postgres/pool";

/** Keeps a copy of each audit entry, because the relay deletes those that it has sent. */
export async function keepAuditEntries(pool: Pool): Promise<void> {
  await pool.query(
    `create table chat.audit_copy (number bigint generated always as identity, record bytea not null);
     create function chat.copy_entry() returns trigger language plpgsql as
       'begin insert into chat.audit_copy (record) values (new.record); return null; end';
     create trigger copy_entry after insert on chat.audit_outbox for each row execute function chat.copy_entry()`,
  );
}

/** The entries of a workspace, in order. */
export async function auditEntries(pool: Pool, workspaceId: string): Promise<AuditRecord[]> {
  const { rows } = await pool.query("select record from chat.audit_copy order by number");
  return rows
    .map(({ record }) => fromBinary(AuditRecordSchema, record))
    .filter((entry) => entry.workspaceId === workspaceId);
}

/** Each entry as its action, its target and its fields. */
export async function shortEntries(pool: Pool, workspaceId: string): Promise<string[]> {
  const entries = await auditEntries(pool, workspaceId);
  return entries.map(({ action, targetId, fields }) => [action, targetId, ...fields].join(" "));
}
