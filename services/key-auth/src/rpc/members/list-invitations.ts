import type { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { type InvitationRow, listInvitations as list } from "../../store/invitations.ts";
import { ROLE } from "../sessions/session.ts";

export const listInvitations: Handler<Context, typeof MemberService.method.listInvitations> = async (
  { pool, now },
  _request,
  call,
) => {
  const rows = await list(pool, principalOf(call).workspaceId, now());
  return { invitations: rows.map(invitationMessage) };
};

export function invitationMessage({ id, email, role, createdAt, expiresAt, creator }: InvitationRow) {
  const [created, expires] = [timestampOf(createdAt), timestampOf(expiresAt)];
  return { id, email, role: ROLE[role], createdAt: created, expiresAt: expires, createdBy: creator };
}
