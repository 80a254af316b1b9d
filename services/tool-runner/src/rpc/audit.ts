import type { HandlerContext } from "@connectrpc/connect";
import { writeDeed } from "@toolgate/audit-trail/write";
import { type Client, inTransaction } from "@toolgate/postgres/pool";
import { type Principal, principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { SCHEMA } from "../schema.ts";

export type AuditAction =
  | "tool.create"
  | "tool.edit"
  | "tool.restore"
  | "tool.delete"
  | "tool.expose"
  | "secret.save"
  | "secret.delete"
  | "variable.save"
  | "variable.delete"
  | "query.save"
  | "query.delete"
  | "data_source.set"
  | "sheet.delete";

/** Records a deed of the user who calls, in its transaction. */
export type RecordDeed = (action: AuditAction, targetId: string, fields?: readonly string[]) => Promise<void>;

/** Runs a change and writes what it records in one transaction. */
export function inAuditedTransaction<T>(
  context: Pick<Context, "pool" | "now">,
  call: HandlerContext,
  work: (client: Client, principal: Principal, record: RecordDeed) => Promise<T>,
): Promise<T> {
  const principal = principalOf(call);
  return inTransaction(context.pool, (client) =>
    work(client, principal, (action, targetId, fields = []) =>
      writeDeed(client, SCHEMA, { principal, at: context.now(), action, targetId, fields }),
    ),
  );
}

/** Deletes something by name and records it, when it was there. */
export async function deleteAudited(
  context: Pick<Context, "pool" | "now">,
  call: HandlerContext,
  action: AuditAction,
  { name, deleteRow }: { name: string; deleteRow: (client: Client, workspaceId: string) => Promise<boolean> },
): Promise<boolean> {
  return inAuditedTransaction(context, call, async (client, { workspaceId }, record) => {
    const deleted = await deleteRow(client, workspaceId);
    if (deleted) await record(action, name);
    return deleted;
  });
}
