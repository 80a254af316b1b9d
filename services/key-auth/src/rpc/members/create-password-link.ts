import { Code, ConnectError } from "@connectrpc/connect";
import type { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { newToken } from "../../login/tokens.ts";
import { belongsElsewhere } from "../../store/memberships.ts";
import { savePasswordLink } from "../../store/password-links.ts";
import { lockUsers } from "../../store/users.ts";
import { changeAsAdmin, memberOf } from "./change-as-admin.ts";

const VALID_FOR_MS = 24 * 3_600_000;

/** Whoever has the link can act as the member, so nobody gets it who may not act everywhere that the member may. */
export const createPasswordLink: Handler<Context, typeof MemberService.method.createPasswordLink> = (
  context,
  request,
  call,
) =>
  changeAsAdmin(context, call, async (change) => {
    const { client, actor, at } = change;
    const member = await memberOf(change, request.userId);
    // A session alone must not be enough to choose a new password.
    if (member.id === actor.id) {
      throw new ConnectError("change your own password at Your account", Code.FailedPrecondition);
    }
    // Nobody changes a role of the two in another workspace meanwhile.
    await lockUsers(client, [member.id, actor.id]);
    if (await belongsElsewhere(client, member.id, actor.id)) {
      const whose = `${member.email} belongs to a workspace that you are not an admin of`;
      throw new ConnectError(`${whose}: ask an operator for a new password`, Code.FailedPrecondition);
    }
    const { token, tokenHash } = newToken();
    const expiresAt = new Date(at.getTime() + VALID_FOR_MS);
    await savePasswordLink(client, { userId: member.id, tokenHash, creatorId: actor.id, expiresAt });
    await change.audit("password.link", member);
    return { path: `/manage/new-password#${token}`, expiresAt: timestampOf(expiresAt) };
  });
