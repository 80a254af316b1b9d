import type { LogoutRequest } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { Context } from "../context.ts";
import { deleteSession } from "../store/sessions.ts";

export async function logout(context: Context, request: LogoutRequest) {
  const reference = await context.tokens.sessionOf(request.token);
  if (reference) await deleteSession(context.pool, reference);
  return {};
}
