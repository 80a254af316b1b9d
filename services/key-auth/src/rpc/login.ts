import { randomBytes, randomUUID } from "node:crypto";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { type LoginRequest, TokenKind } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import type { Context } from "../context.ts";
import { hashToken } from "../login/tokens.ts";
import { insertAccountEntries } from "../store/audit.ts";
import { deleteExpiredSessions, insertSession } from "../store/sessions.ts";
import { listMemberships, type UserRow } from "../store/users.ts";
import { checkPassword } from "./check-password.ts";
import { membershipMessage } from "./membership-message.ts";

const TOKEN_BYTES = 32;
const SESSION_MS = 12 * 3_600_000;
const JWT_MS = 3_600_000;

export async function login(context: Context, request: LoginRequest, call: HandlerContext) {
  const user = await checkPassword(context, request, call);
  const issued = await issueToken(context, user, request.tokenKind === TokenKind.JWT);
  const memberships = await listMemberships(context.pool, user.id);
  call.responseHeader.set("cache-control", "no-store");
  return {
    token: issued.token,
    expiresAt: timestampFromDate(issued.expiresAt),
    memberships: memberships.map(membershipMessage),
  };
}

async function issueToken(context: Context, user: UserRow, asJwt: boolean) {
  const now = context.now();
  const id = randomUUID();
  const expiresAt = new Date(now.getTime() + (asJwt ? JWT_MS : SESSION_MS));
  const token = asJwt
    ? await context.tokens.issueJwt({ id, userId: user.id, email: user.email, expiresAt })
    : randomBytes(TOKEN_BYTES).toString("base64url");
  const session = { id, user, tokenHash: asJwt ? null : hashToken(token), expiresAt };
  await inTransaction(context.pool, async (client) => {
    if (!(await insertSession(client, session))) {
      throw new ConnectError("e-mail or password wrong", Code.Unauthenticated);
    }
    const actor = { id: user.id, name: user.email };
    const { id: userId, email } = user;
    await insertAccountEntries(client, { at: now, actor, action: "login.success", userId, email });
  });
  await deleteExpiredSessions(context.pool, now);
  return { token, expiresAt };
}
