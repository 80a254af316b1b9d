import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { writeAuditEntry } from "@toolgate/audit-trail/write";
import { type Client, inTransaction } from "@toolgate/postgres/pool";
import { announceChange } from "@toolgate/service-host/announce";
import { type Principal, principalOf } from "@toolgate/service-host/principal";
import { SERVICES } from "@toolgate/service-registry/services";
import type { Context } from "../context.ts";

const { schema: SCHEMA } = SERVICES["tool-runner"];

type AuditAction =
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
  | "sheet.delete"
  | "api_description.set";

type ChangeContext = Pick<Context, "pool" | "epochs" | "now">;

/** A change under way: its transaction, and the user who makes it. */
export interface Change {
  client: Client;
  principal: Principal;
  /** Writes an audit entry in the same transaction. */
  audit(action: AuditAction, targetId: string, fields?: readonly string[]): Promise<void>;
}

/** Makes a change and its audit entries in one transaction. */
export function inAuditedTransaction<T>(
  context: Pick<ChangeContext, "pool" | "now">,
  call: HandlerContext,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  const principal = principalOf(call);
  return inTransaction(context.pool, (client) =>
    work({
      client,
      principal,
      audit: (action, targetId, fields = []) =>
        writeAuditEntry(client, SCHEMA, { principal, at: new Date(context.now()), action, targetId, fields }),
    }),
  );
}

/**
 * Changes something that runs use, and announces it, so that every replica uses the change from the next call on.
 */
export async function changeWorkspace<T>(
  context: ChangeContext,
  call: HandlerContext,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  const result = await inAuditedTransaction(context, call, work);
  await announceChange(context.epochs, `workspace:${principalOf(call).workspaceId}`);
  return result;
}

/** Deletes something by its name. */
export async function deleteByName(
  context: ChangeContext,
  call: HandlerContext,
  {
    what,
    name,
    action,
    deleteRow,
  }: {
    what: string;
    name: string;
    action: AuditAction;
    deleteRow: (client: Client, workspaceId: string, name: string) => Promise<boolean>;
  },
): Promise<Record<string, never>> {
  const deleted = await changeWorkspace(context, call, async ({ client, principal, audit }) => {
    const found = await deleteRow(client, principal.workspaceId, name);
    if (found) await audit(action, name);
    return found;
  });
  if (!deleted) throw new ConnectError(`no such ${what}`, Code.NotFound);
  return {};
}
