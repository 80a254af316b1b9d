import type { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { insertAuditEntry } from "../../store/audit.ts";
import { deleteSessionsOfUser } from "../../store/sessions.ts";
import { actorOf, lockMembersAsAdmin, memberOf } from "./change-member.ts";

export const endMemberSessions: Handler<Context, typeof MemberService.method.endMemberSessions> = (
  { pool, now },
  request,
  call,
) => {
  const principal = principalOf(call);
  return inTransaction(pool, async (client) => {
    await lockMembersAsAdmin(client, principal);
    const { userId, email } = await memberOf(client, principal, request.userId);
    const ended = await deleteSessionsOfUser(client, userId, null);
    await insertAuditEntry(client, {
      workspaceId: principal.workspaceId,
      at: now(),
      actor: actorOf(principal),
      action: "session.end",
      targetId: userId,
      target: email,
    });
    return { ended };
  });
};
