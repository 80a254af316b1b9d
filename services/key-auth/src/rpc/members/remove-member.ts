import type { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { changeMember } from "./change-member.ts";

export const removeMember: Handler<Context, typeof MemberService.method.removeMember> = async (
  context,
  { userId },
  call,
) => {
  await changeMember(context, call, userId, undefined);
  return {};
};
