import type { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { invalid } from "../errors.ts";
import { memberRoleOf } from "../sessions/session.ts";
import { changeMember } from "./change-member.ts";

export const changeRole: Handler<Context, typeof MemberService.method.changeRole> = async (context, request, call) => {
  const role = memberRoleOf(request.role);
  if (!role) throw invalid("role", "must be member, manager or admin");
  await changeMember(context, call, request.userId, role);
  return {};
};
