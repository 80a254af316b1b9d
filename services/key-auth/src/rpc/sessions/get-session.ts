import type { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { membershipMessages, sessionOf } from "./session.ts";

export const getSession: Handler<Context, typeof SessionService.method.getSession> = async (context, { token }) => {
  const { userId, email, expiresAt } = await sessionOf(context, token);
  const memberships = await membershipMessages(context, userId);
  return { userId, email, expiresAt: timestampOf(expiresAt), memberships };
};
