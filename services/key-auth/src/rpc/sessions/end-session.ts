import { Code, ConnectError } from "@connectrpc/connect";
import type { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { deleteSessionOfUser } from "../../store/sessions.ts";
import { uuidOrNull } from "../../store/uuid.ts";
import { auditEnd, sessionOf } from "./session.ts";

export const endSession: Handler<Context, typeof SessionService.method.endSession> = async (
  context,
  { token, sessionId },
) => {
  const own = await sessionOf(context, token);
  return inTransaction(context.pool, async (client) => {
    if (!(await deleteSessionOfUser(client, own.userId, uuidOrNull(sessionId)))) {
      throw new ConnectError("no such session", Code.NotFound);
    }
    await auditEnd(client, own, context.now());
    return {};
  });
};
