import { Code, ConnectError } from "@connectrpc/connect";
import type { SessionService } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { hashPassword, passwordFault } from "../../domain/password.ts";
import { insertAccountEntries } from "../../store/audit.ts";
import { deleteSessionsOfUser } from "../../store/sessions.ts";
import { replacePasswordHash } from "../../store/users.ts";
import { invalid } from "../errors.ts";
import { checkPassword, countedForSession, holderOf } from "./check-password.ts";
import { sessionOf } from "./session.ts";

export const changePassword: Handler<Context, typeof SessionService.method.changePassword> = async (
  context,
  { token, currentPassword, newPassword },
  call,
) => {
  const session = await sessionOf(context, token);
  const fault = passwordFault(newPassword);
  if (fault) throw invalid("new_password", fault);
  const credentials = { email: session.email, password: currentPassword };
  const counted = countedForSession(session);
  const user = await checkPassword(context, credentials, counted, call.signal);
  const newHash = await context.passwordHashes(holderOf(counted), () => hashPassword(newPassword), call.signal);
  await inTransaction(context.pool, async (client) => {
    if (!(await replacePasswordHash(client, user, newHash))) {
      throw new ConnectError("the password was changed at the same time", Code.Aborted);
    }
    await deleteSessionsOfUser(client, user.id, session.id);
    await insertAccountEntries(client, { user, action: "password.change", at: context.now() });
  });
  return {};
};
