import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { ChangePasswordRequest } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import type { Context } from "../context.ts";
import { hashPassword, passwordFault } from "../domain/password.ts";
import { insertAccountEntries } from "../store/audit.ts";
import { deleteSessionsOfUser } from "../store/sessions.ts";
import { replacePasswordHash } from "../store/users.ts";
import { checkPassword } from "./check-password.ts";
import { invalid } from "./key-fields.ts";
import { sessionOf } from "./session-of.ts";

export async function changePassword(context: Context, request: ChangePasswordRequest, call: HandlerContext) {
  const session = await sessionOf(context, request.token, "");
  const fault = passwordFault(request.newPassword);
  if (fault) throw invalid("new_password", fault);
  const { id, email, passwordHash } = await checkPassword(
    context,
    { email: session.email, password: request.currentPassword },
    call,
  );
  const newHash = await context.inPasswordTurn(() => hashPassword(request.newPassword));
  await inTransaction(context.pool, async (client) => {
    if (!(await replacePasswordHash(client, id, { from: passwordHash, to: newHash }))) {
      throw new ConnectError("the password was changed at the same time", Code.Aborted);
    }
    await deleteSessionsOfUser(client, id, session.id);
    const actor = { id, name: email };
    await insertAccountEntries(client, { at: context.now(), actor, action: "password.change", userId: id, email });
  });
  return {};
}
