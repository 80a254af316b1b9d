import { randomUUID } from "node:crypto";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { MemberService } from "@toolgate/gen/toolgate/key_auth/v1/member_pb";
import { inTransaction, type Queryable } from "@toolgate/postgres/pool";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { hashPassword, passwordFault } from "../../domain/password.ts";
import { changeRole } from "../../members/change-role.ts";
import { setPassword } from "../../members/set-password.ts";
import { findInvitation, type OpenInvitation } from "../../store/invitations.ts";
import { insertUser, lockUser } from "../../store/users.ts";
import { lockMembers } from "../../store/workspaces.ts";
import { invalid } from "../errors.ts";
import { checkPassword, countedForLink, countedForLogin, holderOf } from "../sessions/check-password.ts";
import { noSuchLink, openLink } from "./open-link.ts";

export const acceptInvitation: Handler<Context, typeof MemberService.method.acceptInvitation> = async (
  context,
  { token, password },
  call,
) => {
  const { pool, now } = context;
  const seen = await openLink(context, { token, call }, (hash) => findInvitation(pool, hash, now()));
  const { workspaceId, workspace, email, role, tokenHash } = seen;
  const passwordHash = await checkedPassword(context, { invitation: seen, password }, call);
  return inTransaction(pool, async (client) => {
    await lockMembers(client, workspaceId);
    // Nobody joins another workspace meanwhile, which would make the account theirs.
    if (seen.userId !== null) await lockUser(client, seen.userId);
    const invitation = await findInvitation(client, tokenHash, now());
    if (!invitation) throw noSuchLink();
    if (invitation.userId !== seen.userId || invitation.hasPassword !== seen.hasPassword) {
      throw changedMeanwhile();
    }
    const id = await ensureUser(client, invitation, passwordHash);
    const user = { id, email };
    const actor = { id, name: email };
    const at = now();
    await changeRole(client, { workspaceId, user, role, actor, at, action: "invitation.accept" });
    // An account that belongs to no workspace is nobody's, so it gets the password. Its audit entry needs the new membership.
    if (invitation.userId !== null && passwordHash !== undefined) {
      await setPassword(client, { user, passwordHash, actor, at });
    }
    return { workspace, email };
  });
};

function changedMeanwhile(): ConnectError {
  return new ConnectError("the account was changed at the same time: open the link again", Code.FailedPrecondition);
}

interface Acceptance {
  invitation: OpenInvitation;
  password: string;
}

/** The hash of a new password; undefined after the password that the person has was checked. */
async function checkedPassword(
  context: Context,
  { invitation: { email, hasPassword }, password }: Acceptance,
  call: HandlerContext,
): Promise<string | undefined> {
  if (hasPassword) {
    const counted = countedForLogin(context.devices, { email, deviceToken: "" }, call);
    await checkPassword(context, { email, password }, counted, call.signal);
    return undefined;
  }
  const fault = passwordFault(password);
  if (fault) throw invalid("password", fault);
  return context.passwordHashes(holderOf(countedForLink(call)), () => hashPassword(password), call.signal);
}

async function ensureUser(
  client: Queryable,
  { userId, email }: OpenInvitation,
  passwordHash: string | undefined,
): Promise<string> {
  if (userId !== null) return userId;
  const id = randomUUID();
  if (passwordHash === undefined || !(await insertUser(client, { id, email, passwordHash }))) {
    throw changedMeanwhile();
  }
  return id;
}
