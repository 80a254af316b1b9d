import { randomUUID } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { AuditRecordSchema } from "@toolgate/gen/toolgate/events/v1/audit_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import type { Principal } from "@toolgate/service-host/principal";

/** The record of one action of a user. It names what was changed, without the values, because they may be secret. */
interface AuditEntry {
  principal: Pick<Principal, "userId" | "email" | "workspaceId">;
  at: Date;
  /** Noun and verb, such as `tool.create`. */
  action: string;
  /** Id of what was changed, or its name if it has no id. */
  targetId: string;
  /** Its name; default: the id. */
  target?: string;
  /** Names of the fields that were changed, or of the flags that were exposed. */
  fields?: readonly string[];
}

/** When this process wrote its last entry, on the clock of `performance.now`. */
export const lastEntry = { writtenAt: Number.NEGATIVE_INFINITY };

/**
 * Writes an entry into the table `<schema>.audit_outbox (id uuid, at timestamptz, record bytea)`, from which the relay
 * takes it to the audit log. In the transaction of the action itself, both are committed or neither. [WMGMT]
 * @param schema a constant of the caller, never input
 */
export async function writeAuditEntry(db: Queryable, schema: string, entry: AuditEntry): Promise<void> {
  await db.query(`insert into ${schema}.audit_outbox (id, at, record) values ($1, $2, $3)`, auditRow(entry));
}

/** The entry as a row of that table, for a statement that does more than write it: id, at, record. */
export function auditRow(entry: AuditEntry): [id: string, at: Date, record: Buffer] {
  const { principal, at, action, targetId, target = targetId, fields = [] } = entry;
  lastEntry.writtenAt = performance.now();
  const id = randomUUID();
  const record = create(AuditRecordSchema, {
    id,
    workspaceId: principal.workspaceId,
    atMs: BigInt(at.getTime()),
    actorId: principal.userId,
    actor: principal.email,
    action,
    targetId,
    target,
    fields: [...fields],
  });
  return [id, at, Buffer.from(toBinary(AuditRecordSchema, record))];
}
