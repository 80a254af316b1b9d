import type { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { deleteSession } from "../../store/sessions.ts";

export const logout: Handler<Context, typeof SessionService.method.logout> = async (context, request) => {
  const reference = await context.tokens.sessionOf(request.token);
  if (reference) await deleteSession(context.pool, reference);
  return {};
};
