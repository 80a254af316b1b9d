import type { AuditRecord } from "@toolgate/gen/toolgate/events/v1/audit_pb";
import type { Queryable } from "@toolgate/postgres/pool";

/** Actions on keys, users and workspaces, as the audit log names them. */
export type AuditAction =
  | "key.create"
  | "key.edit"
  | "key.edit_refused"
  | "key.rotate"
  | "key.revoke"
  | "login.success"
  | "login.failure"
  | "password.change"
  | "password.reset"
  | "password.link"
  | "role.set"
  | "role.remove"
  | "session.end"
  | "invitation.create"
  | "invitation.withdraw"
  | "invitation.accept"
  | "workspace.create"
  | "workspace.lock"
  | "workspace.unlock";

/** Undefined: the field had, or has, no value. */
export interface FieldChange {
  field: string;
  before?: unknown;
  after?: unknown;
}

export interface Actor {
  /** Null for an operator. */
  id: string | null;
  name: string;
}

interface NewAuditEntry {
  workspaceId: string;
  at: Date;
  actor: Actor;
  action: AuditAction;
  targetId: string;
  target: string;
  changes?: FieldChange[];
}

export async function insertAuditEntry(db: Queryable, entry: NewAuditEntry): Promise<void> {
  await db.query(
    `insert into key_auth.audit_entries (id, workspace_id, at, actor_id, actor, action, target_id, target, changes)
     values (gen_random_uuid(), $1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      entry.workspaceId,
      entry.at,
      entry.actor.id,
      entry.actor.name,
      entry.action,
      entry.targetId,
      entry.target,
      JSON.stringify(entry.changes ?? []),
    ],
  );
}

/** Writes entries that other services report, once each. Skips those of workspaces that no longer exist. */
export async function insertReportedEntries(db: Queryable, records: AuditRecord[]): Promise<void> {
  const rows = records.map((record) => ({
    id: record.id,
    workspace_id: record.workspaceId,
    at_ms: Number(record.atMs),
    actor_id: record.actorId,
    actor: record.actor,
    action: record.action,
    target_id: record.targetId,
    target: record.target,
    changes: record.fields.map((field): FieldChange => ({ field })),
  }));
  await db.query(
    `insert into key_auth.audit_entries (id, workspace_id, at, actor_id, actor, action, target_id, target, changes)
     select r.id, w.id, to_timestamp(at_ms / 1000.0), actor_id, actor, action, target_id, target, changes
     from json_to_recordset($1) as r
       (id uuid, workspace_id uuid, at_ms bigint, actor_id uuid, actor text, action text, target_id text, target text,
        changes jsonb)
     join key_auth.workspaces w on w.id = r.workspace_id
     on conflict do nothing`,
    [JSON.stringify(rows)],
  );
}

/** Writes one entry into the audit log of every workspace that the user belongs to. By default, the user has done it. */
export async function insertAccountEntries(
  db: Queryable,
  entry: { user: { id: string; email: string }; action: AuditAction; at: Date; actor?: Actor },
): Promise<void> {
  const { user, action, at, actor = { id: user.id, name: user.email } } = entry;
  await db.query(
    `insert into key_auth.audit_entries (id, workspace_id, at, actor_id, actor, action, target_id, target, changes)
     select gen_random_uuid(), workspace_id, $2, $3, $4, $5, $1::text, $6, '[]'
     from key_auth.memberships where user_id = $1::uuid`,
    [user.id, at, actor.id, actor.name, action, user.email],
  );
}

interface AuditRow {
  id: string;
  at: Date;
  actor: string;
  action: string;
  targetId: string;
  target: string;
  changes: FieldChange[];
  cursor: AuditCursor;
  /** False only for the last of the entries that were read. */
  matches: boolean;
  isLastRead: boolean;
}

export type AuditCursor = { at: string; id: string };

/** At most this many entries are read for one page. */
export const MAX_ENTRIES_READ = 5_000;

/** What matches, newest first, after the cursor. When entries may be left unread, the last one that was read is among the rows. */
export async function listAuditEntries(
  db: Queryable,
  page: {
    workspaceId: string;
    targetId: string;
    action: string;
    actor: string;
    limit: number;
    after: AuditCursor | undefined;
  },
): Promise<AuditRow[]> {
  const listed = await db.query(
    `select id, at, actor, action, target_id as "targetId", target, changes, matches, "isLastRead",
       json_build_object('at', at::text, 'id', id) as cursor
     from (
       select *, row_number() over (order by at desc, id desc) = ${MAX_ENTRIES_READ} as "isLastRead",
         ($3 = '' or target_id = $3) and ($4 = '' or action = $4) and ($5 = '' or lower(actor) = lower($5)) as matches
       from key_auth.audit_entries
       where workspace_id = $1 and ($6::timestamptz is null or (at, id) < ($6::timestamptz, $7::uuid))
       order by at desc, id desc
       limit ${MAX_ENTRIES_READ}
     ) as entry
     where matches or "isLastRead"
     order by entry.at desc, id desc
     limit $2`,
    [
      page.workspaceId,
      page.limit,
      page.targetId,
      page.action,
      page.actor,
      page.after?.at ?? null,
      page.after?.id ?? null,
    ],
  );
  return listed.rows;
}

export async function deleteAuditEntriesBefore(db: Queryable, before: Date): Promise<void> {
  await db.query("delete from key_auth.audit_entries where at < $1", [before]);
}
