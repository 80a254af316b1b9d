import type { HandlerContext } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";
import { writeAuditEntry } from "@toolgate/audit-trail/write";
import { type Client, inTransaction } from "@toolgate/postgres/pool";
import { type Principal, principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../context.ts";
import { SCHEMA } from "../store/queue.ts";
import { type ChatSettingsRow, lockSettings } from "../store/settings.ts";

type AuditAction =
  | "assistant.create"
  | "assistant.edit"
  | "assistant.expose"
  | "assistant.default"
  | "assistant.delete"
  | "model.save"
  | "model.delete"
  | "chat_settings.edit";

/** A change under way: its transaction, the user who makes it, and the workspace's settings, which are locked. */
export interface Change {
  client: Client;
  principal: Principal;
  settings: ChatSettingsRow;
  now: Date;
  /** Writes an audit entry in the same transaction. */
  audit(action: AuditAction, targetId: string, fields?: readonly string[]): Promise<void>;
}

/** Changes a workspace's assistants, models or settings, one change at a time, together with its audit entries. */
export function changeWorkspace<T>(
  context: Pick<Context, "pool" | "now">,
  call: HandlerContext,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  const principal = principalOf(call);
  return inTransaction(context.pool, async (client) => {
    const settings = await lockSettings(client, principal.workspaceId);
    const now = context.now();
    return work({
      client,
      principal,
      settings,
      now,
      audit: (action, targetId, fields = []) =>
        writeAuditEntry(client, SCHEMA, { principal, at: now, action, targetId, fields }),
    });
  });
}

export function notFound(what: string): ConnectError {
  return new ConnectError(`no such ${what}`, Code.NotFound);
}

/** Fails with invalid_argument and every violation. */
export function refuseIf(...violations: readonly (string | undefined)[]): void {
  const found = violations.filter((violation) => violation !== undefined);
  if (found.length > 0) throw new ConnectError(found.join("; "), Code.InvalidArgument);
}
