import type { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { deleteSessionsOfUser } from "../../store/sessions.ts";
import { auditEnd, sessionOf } from "./session.ts";

export const endOtherSessions: Handler<Context, typeof SessionService.method.endOtherSessions> = async (
  context,
  { token },
) => {
  const own = await sessionOf(context, token);
  return inTransaction(context.pool, async (client) => {
    const ended = await deleteSessionsOfUser(client, own.userId, own.id);
    if (ended > 0) await auditEnd(client, own, context.now());
    return { ended };
  });
};
