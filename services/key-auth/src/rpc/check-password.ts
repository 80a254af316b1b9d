import { createHash } from "node:crypto";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { Context } from "../context.ts";
import { MAX_PASSWORD_CHARACTERS, passwordMatches } from "../domain/password.ts";
import {
  type Counted,
  MAX_ACCOUNT_FAILURES,
  MAX_ADDRESS_FAILURES,
  MAX_FAILURES_OF_NETWORK,
} from "../login/throttle.ts";
import { insertAccountEntries } from "../store/audit.ts";
import { findUserByEmail, type UserRow } from "../store/users.ts";
import { callerNetwork } from "./client-address.ts";

const MAX_EMAIL_CHARACTERS = 320;

/** The user of an e-mail address and password. Refuses alike, and after the same work, whichever is wrong. */
export function checkPassword(
  context: Context,
  given: { email: string; password: string },
  call: HandlerContext,
): Promise<UserRow> {
  return context.inPasswordTurn(() => checkInTurn(context, given, call));
}

async function checkInTurn(
  context: Context,
  { email, password }: { email: string; password: string },
  call: HandlerContext,
): Promise<UserRow> {
  const account = email.slice(0, MAX_EMAIL_CHARACTERS).toLowerCase();
  const counted = countedFor(account, callerNetwork(call));
  const attempt = await context.throttle.begin(counted);
  if (attempt.kind === "refused") {
    const { retryAfterS } = attempt;
    throw new ConnectError(`too many failures: try again in ${retryAfterS} s`, Code.ResourceExhausted, {
      "retry-after": String(retryAfterS),
    });
  }
  const user = await findUserByEmail(context.pool, account);
  const matches = await passwordMatches(password.slice(0, MAX_PASSWORD_CHARACTERS), user?.passwordHash);
  if (user && matches) {
    await context.throttle.succeeded(counted);
    return user;
  }
  if (user) context.afterwards(recordFailure(context, user));
  throw new ConnectError("e-mail or password wrong", Code.Unauthenticated);
}

/** What an attempt counts for. The account at this network stands first: a success forgets its failures. */
export function countedFor(account: string, network: string | undefined): Counted[] {
  const hash = createHash("sha256").update(account).digest("hex");
  const counted = [
    { name: `account:${hash}:${network ?? "unknown"}`, maxFailures: MAX_FAILURES_OF_NETWORK },
    { name: `account:${hash}`, maxFailures: MAX_ACCOUNT_FAILURES },
  ];
  if (network) counted.push({ name: `address:${network}`, maxFailures: MAX_ADDRESS_FAILURES });
  return counted;
}

function recordFailure({ pool, now }: Context, { id, email }: UserRow): Promise<void> {
  const actor = { id: null, name: "unknown" };
  return insertAccountEntries(pool, { at: now(), actor, action: "login.failure", userId: id, email });
}
