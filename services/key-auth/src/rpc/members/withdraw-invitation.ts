import { Code, ConnectError } from "@connectrpc/connect";
import type { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { insertAuditEntry } from "../../store/audit.ts";
import { deleteInvitation } from "../../store/invitations.ts";
import { uuidOrNull } from "../../store/uuid.ts";
import { actorOf, lockMembersAsAdmin } from "./change-member.ts";

export const withdrawInvitation: Handler<Context, typeof MemberService.method.withdrawInvitation> = (
  { pool, now },
  { invitationId },
  call,
) => {
  const principal = principalOf(call);
  const { workspaceId } = principal;
  return inTransaction(pool, async (client) => {
    // Either the invitation is accepted first, or not at all.
    await lockMembersAsAdmin(client, principal);
    const email = await deleteInvitation(client, workspaceId, uuidOrNull(invitationId));
    if (email === undefined) throw new ConnectError("no such invitation", Code.NotFound);
    await insertAuditEntry(client, {
      workspaceId,
      at: now(),
      actor: actorOf(principal),
      action: "invitation.withdraw",
      targetId: invitationId,
      target: email,
    });
    return {};
  });
};
