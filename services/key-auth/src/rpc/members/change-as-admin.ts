import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { inTransaction, type Queryable } from "@toolgate/postgres/pool";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { type AuditAction, type FieldChange, insertAuditEntry } from "../../store/audit.ts";
import { findMember, findRole } from "../../store/memberships.ts";
import { uuidOrNull } from "../../store/uuid.ts";
import { lockMembers } from "../../store/workspaces.ts";
import { noSuchMember } from "../errors.ts";

/** A change that an admin makes to their workspace. */
export interface AdminChange {
  client: Queryable;
  workspaceId: string;
  actor: { id: string; name: string };
  at: Date;
  /** Writes the audit entry. */
  audit(action: AuditAction, target: { id: string; email: string }, changes?: FieldChange[]): Promise<void>;
}

/**
 * Runs a change in a transaction. Nobody's role changes until it ends; the caller, who was an admin when the call began,
 * still is one.
 */
export function changeAsAdmin<T>(
  { pool, now }: Context,
  call: HandlerContext,
  change: (change: AdminChange) => Promise<T>,
): Promise<T> {
  const { workspaceId, userId, email } = principalOf(call);
  const actor = { id: userId, name: email };
  return inTransaction(pool, async (client) => {
    await lockMembers(client, workspaceId);
    if ((await findRole(client, userId, workspaceId)) !== "admin") {
      throw new ConnectError("your role does not permit this", Code.PermissionDenied);
    }
    const at = now();
    return change({
      client,
      workspaceId,
      actor,
      at,
      audit: (action, target, changes) =>
        insertAuditEntry(client, {
          workspaceId,
          at,
          actor,
          action,
          targetId: target.id,
          target: target.email,
          ...(changes && { changes }),
        }),
    });
  });
}

/** The member with this id of the workspace. */
export async function memberOf({ client, workspaceId }: AdminChange, userId: string) {
  const member = await findMember(client, workspaceId, uuidOrNull(userId));
  if (!member) throw noSuchMember();
  return member;
}
