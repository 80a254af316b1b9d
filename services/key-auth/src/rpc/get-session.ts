import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { GetSessionRequest } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { Context } from "../context.ts";
import { listMemberships } from "../store/users.ts";
import { membershipMessage } from "./membership-message.ts";
import { sessionOf } from "./session-of.ts";

export async function getSession(context: Context, request: GetSessionRequest) {
  const { userId, email, expiresAt } = await sessionOf(context, request.token, "");
  const memberships = await listMemberships(context.pool, userId);
  return {
    userId,
    email,
    expiresAt: timestampFromDate(expiresAt),
    memberships: memberships.map(membershipMessage),
  };
}
