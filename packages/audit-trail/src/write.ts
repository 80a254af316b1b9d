import { randomUUID } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { AuditRecordSchema } from "@toolgate/gen/toolgate/events/v1/audit_pb";
import type { Queryable } from "@toolgate/postgres/pool";
import type { Principal } from "@toolgate/service-host/principal";

/** What a user did. It names what was changed and holds no value: secrets and URLs stay where they are. */
export interface Deed<Action extends string> {
  principal: Pick<Principal, "userId" | "email" | "workspaceId">;
  at: Date;
  /** Noun and verb, such as `tool.create`. */
  action: Action;
  /** Id or, for what has none, name of what was changed. */
  targetId: string;
  /** Its name; default: the id. */
  target?: string;
  /** Names of the fields that were changed, or of the flags that were exposed. */
  fields?: readonly string[];
}

/** A deed as a row of `audit_outbox`. */
export interface DeedRow {
  id: string;
  at: Date;
  record: Buffer;
}

/** For stores that write the row in a statement of their own, with the deed. */
export function deedRow<Action extends string>({
  principal,
  at,
  action,
  targetId,
  target = targetId,
  fields = [],
}: Deed<Action>): DeedRow {
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
  return { id, at, record: Buffer.from(toBinary(AuditRecordSchema, record)) };
}

/**
 * Writes a deed into the table `<schema>.audit_outbox (id uuid, at timestamptz, record bytea)`, from which the relay
 * takes it to the audit log. Given the transaction of the deed itself, neither is committed without the other. [WMGMT]
 * @param schema a constant of the caller, never input
 */
export async function writeDeed<Action extends string>(
  db: Queryable,
  schema: string,
  deed: Deed<Action>,
): Promise<void> {
  const { id, at, record } = deedRow(deed);
  await db.query(`insert into ${schema}.audit_outbox (id, at, record) values ($1, $2, $3)`, [id, at, record]);
}
