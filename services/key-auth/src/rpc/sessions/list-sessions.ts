import { type SessionService, TokenKind } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { listSessions as list } from "../../store/sessions.ts";
import { sessionOf } from "./session.ts";

export const listSessions: Handler<Context, typeof SessionService.method.listSessions> = async (context, { token }) => {
  const own = await sessionOf(context, token);
  const sessions = await list(context.pool, own.userId, context.now());
  return {
    sessions: sessions.map(({ id, isJwt, device, address, startedAt, lastUsedAt, expiresAt }) => ({
      id,
      tokenKind: isJwt ? TokenKind.JWT : TokenKind.SESSION,
      device,
      address,
      startedAt: timestampOf(startedAt),
      lastUsedAt: timestampOf(lastUsedAt),
      expiresAt: timestampOf(expiresAt),
      isCurrent: id === own.id,
    })),
  };
};
