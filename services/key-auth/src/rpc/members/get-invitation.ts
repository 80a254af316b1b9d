import type { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { findInvitation } from "../../store/invitations.ts";
import { ROLE } from "../sessions/session.ts";
import { openLink } from "./open-link.ts";

export const getInvitation: Handler<Context, typeof MemberService.method.getInvitation> = async (
  context,
  { token },
  call,
) => {
  const invitation = await openLink(context, { token, call }, (hash) =>
    findInvitation(context.pool, hash, context.now()),
  );
  const { workspace, email, role, expiresAt, hasPassword } = invitation;
  return { workspace, email, role: ROLE[role], expiresAt: timestampOf(expiresAt), hasPassword };
};
