import { randomUUID } from "node:crypto";
import type { HandlerContext } from "@connectrpc/connect";
import { type LoginRequest, type SessionService, TokenKind } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { shortIp } from "@toolgate/ip-address/ip-address";
import { inTransaction } from "@toolgate/postgres/pool";
import { withoutControlCharacters } from "@toolgate/rules/name";
import type { Handler } from "@toolgate/service-host/handler";
import { CLIENT_ADDRESS_HEADER } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import type { Context } from "../../context.ts";
import { newToken } from "../../login/tokens.ts";
import { insertAccountEntries } from "../../store/audit.ts";
import { deleteExpiredSessions, insertSession } from "../../store/sessions.ts";
import type { UserRow } from "../../store/users.ts";
import { wrongPassword } from "../errors.ts";
import { accountHash, checkPassword, countedForLogin } from "./check-password.ts";
import { membershipMessages } from "./session.ts";

const SESSION_MS = 12 * 3_600_000;
const JWT_MS = 3_600_000;
const MAX_DEVICE_CHARACTERS = 300;

export const login: Handler<Context, typeof SessionService.method.login> = async (context, request, call) => {
  const counted = countedForLogin(context.devices, request, call);
  const user = await checkPassword(context, request, counted, call.signal);
  const { token, expiresAt } = await startSession(context, user, request, call);
  const memberships = await membershipMessages(context, user.id);
  call.responseHeader.set("cache-control", "no-store");
  const deviceToken = context.devices.renew(accountHash(request.email), request.deviceToken);
  return { token, expiresAt: timestampOf(expiresAt), memberships, deviceToken };
};

async function startSession(
  { pool, tokens, now }: Context,
  user: UserRow,
  { tokenKind, device }: LoginRequest,
  { requestHeader }: HandlerContext,
) {
  const asJwt = tokenKind === TokenKind.JWT;
  const at = now();
  const id = randomUUID();
  const { id: userId, email } = user;
  const expiresAt = new Date(at.getTime() + (asJwt ? JWT_MS : SESSION_MS));
  const { token, tokenHash } = asJwt
    ? { token: await tokens.issueJwt({ id, userId, email, expiresAt }), tokenHash: null }
    : newToken();
  const from = {
    device: withoutControlCharacters(device.slice(0, MAX_DEVICE_CHARACTERS)).trim(),
    address: shortIp(requestHeader.get(CLIENT_ADDRESS_HEADER) ?? ""),
  };
  await inTransaction(pool, async (client) => {
    const session = { id, user, tokenHash, ...from, startedAt: at, expiresAt };
    if (!(await insertSession(client, session))) throw wrongPassword();
    await insertAccountEntries(client, { user, action: "login.success", at });
  });
  await deleteExpiredSessions(pool, at);
  return { token, expiresAt };
}
