import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { MemberRole } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { changeRole } from "../../members/change-role.ts";
import { noSuchMember } from "../errors.ts";
import { changeAsAdmin, memberOf } from "./change-as-admin.ts";

/** Gives a member another role, or removes them. */
export function changeMember(
  context: Context,
  call: HandlerContext,
  userId: string,
  role: MemberRole | undefined,
): Promise<void> {
  return changeAsAdmin(context, call, async (change) => {
    const { client, workspaceId, actor, at } = change;
    const user = await memberOf(change, userId);
    const outcome = await changeRole(client, { workspaceId, user, role, actor, at });
    if (outcome === "no member") throw noSuchMember();
    if (outcome === "last admin") {
      const message = `${user.email} is the only admin: make another member admin first`;
      throw new ConnectError(message, Code.FailedPrecondition);
    }
  });
}
