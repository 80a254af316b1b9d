import { Code, ConnectError } from "@connectrpc/connect";
import type { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { newToken } from "../../login/tokens.ts";
import { insertAuditEntry } from "../../store/audit.ts";
import { belongsElsewhere } from "../../store/memberships.ts";
import { savePasswordLink } from "../../store/password-links.ts";
import { lockUsers } from "../../store/users.ts";
import { actorOf, lockMembersAsAdmin, memberOf } from "./change-member.ts";

const VALID_FOR_MS = 24 * 3_600_000;

/** Whoever has the link can act as the member, so nobody gets it who may not act everywhere that the member may. */
export const createPasswordLink: Handler<Context, typeof MemberService.method.createPasswordLink> = (
  { pool, now },
  request,
  call,
) => {
  const principal = principalOf(call);
  const actor = actorOf(principal);
  const at = now();
  const expiresAt = new Date(at.getTime() + VALID_FOR_MS);
  const { token, tokenHash } = newToken();
  return inTransaction(pool, async (client) => {
    await lockMembersAsAdmin(client, principal);
    const { userId, email } = await memberOf(client, principal, request.userId);
    // A session alone must not be enough to choose a new password.
    if (userId === actor.id) {
      throw new ConnectError("change your own password at Your account", Code.FailedPrecondition);
    }
    // Nobody changes a role of the two in another workspace meanwhile.
    await lockUsers(client, [userId, actor.id]);
    if (await belongsElsewhere(client, userId, actor.id)) {
      const message = `${email} belongs to a workspace that you are not an admin of: ask an operator for a new password`;
      throw new ConnectError(message, Code.FailedPrecondition);
    }
    await savePasswordLink(client, { userId, tokenHash, creatorId: actor.id, expiresAt });
    const { workspaceId } = principal;
    const entry = { workspaceId, at, actor, action: "password.link", targetId: userId, target: email } as const;
    await insertAuditEntry(client, entry);
    return { path: `/manage/new-password#${token}`, expiresAt: timestampOf(expiresAt) };
  });
};
