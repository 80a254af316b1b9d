import type { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { deleteSessionsOfUser } from "../../store/sessions.ts";
import { changeAsAdmin, memberOf } from "./change-as-admin.ts";

export const endMemberSessions: Handler<Context, typeof MemberService.method.endMemberSessions> = (
  context,
  { userId },
  call,
) =>
  changeAsAdmin(context, call, async (change) => {
    const member = await memberOf(change, userId);
    const ended = await deleteSessionsOfUser(change.client, member.id, null);
    await change.audit("session.end", member);
    return { ended };
  });
