import { Code, ConnectError } from "@connectrpc/connect";
import type { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { deleteInvitation } from "../../store/invitations.ts";
import { uuidOrNull } from "../../store/uuid.ts";
import { changeAsAdmin } from "./change-as-admin.ts";

/** Either the invitation is accepted first, or not at all. */
export const withdrawInvitation: Handler<Context, typeof MemberService.method.withdrawInvitation> = (
  context,
  { invitationId },
  call,
) =>
  changeAsAdmin(context, call, async ({ client, workspaceId, audit }) => {
    const email = await deleteInvitation(client, workspaceId, uuidOrNull(invitationId));
    if (email === undefined) throw new ConnectError("no such invitation", Code.NotFound);
    await audit("invitation.withdraw", { id: invitationId, email });
    return {};
  });
