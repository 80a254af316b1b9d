import type { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { hashPassword, passwordFault } from "../../domain/password.ts";
import { setPassword } from "../../members/set-password.ts";
import { deletePasswordLink, findUserOfLink } from "../../store/password-links.ts";
import { lockUser } from "../../store/users.ts";
import { invalid } from "../errors.ts";
import { countedForLink, holderOf } from "../sessions/check-password.ts";
import { noSuchLink, openLink } from "./open-link.ts";

export const resetPassword: Handler<Context, typeof MemberService.method.resetPassword> = async (
  context,
  { token, newPassword },
  call,
) => {
  const { pool, now, passwordHashes } = context;
  const { id, email, tokenHash } = await openLink(context, { token, call }, (hash) =>
    findUserOfLink(pool, hash, now()),
  );
  const fault = passwordFault(newPassword);
  if (fault) throw invalid("new_password", fault);
  const holder = holderOf(countedForLink(call));
  const passwordHash = await passwordHashes(holder, () => hashPassword(newPassword), call.signal);
  await inTransaction(pool, async (client) => {
    await lockUser(client, id);
    if (!(await deletePasswordLink(client, tokenHash))) throw noSuchLink();
    await setPassword(client, { user: { id, email }, passwordHash, actor: { id, name: email }, at: now() });
  });
  return { email };
};
