import { randomUUID } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import type { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { isEmail } from "../../domain/email.ts";
import { newToken } from "../../login/tokens.ts";
import { listInvitations, saveInvitation } from "../../store/invitations.ts";
import { findRole } from "../../store/memberships.ts";
import { findUserByEmail } from "../../store/users.ts";
import { invalid } from "../errors.ts";
import { memberRoleOf } from "../sessions/session.ts";
import { type AdminChange, changeAsAdmin } from "./change-as-admin.ts";
import { invitationMessage } from "./list-invitations.ts";

const VALID_FOR_MS = 7 * 86_400_000;
const MAX_OPEN = 100;

export const createInvitation: Handler<Context, typeof MemberService.method.createInvitation> = (
  context,
  request,
  call,
) => {
  const email = request.email.trim();
  const role = memberRoleOf(request.role);
  if (!isEmail(email)) throw invalid("email", "must be an email address");
  if (!role) throw invalid("role", "must be member, manager or admin");
  return changeAsAdmin(context, call, async (change) => {
    const { client, workspaceId, actor, at } = change;
    await assertMayBeInvited(change, email);
    const { token, tokenHash } = newToken();
    const expiresAt = new Date(at.getTime() + VALID_FOR_MS);
    const invitation = { id: randomUUID(), workspaceId, email, role, tokenHash, actor, createdAt: at, expiresAt };
    const saved = await saveInvitation(client, invitation);
    await change.audit("invitation.create", saved, [{ field: "role", after: role }]);
    return { invitation: invitationMessage(saved), path: `/manage/join#${token}` };
  });
};

async function assertMayBeInvited({ client, workspaceId, at }: AdminChange, email: string): Promise<void> {
  const user = await findUserByEmail(client, email);
  if (user && (await findRole(client, user.id, workspaceId))) {
    throw new ConnectError(`${user.email} is a member already`, Code.AlreadyExists);
  }
  if ((await listInvitations(client, workspaceId, at)).length >= MAX_OPEN) {
    throw new ConnectError(`at most ${MAX_OPEN} invitations can be open`, Code.ResourceExhausted);
  }
}
