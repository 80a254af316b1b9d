import { createHash } from "node:crypto";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { parseIp } from "@toolgate/ip-address/ip-address";
import { CLIENT_ADDRESS_HEADER } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { MAX_PASSWORD_CHARACTERS, passwordMatches } from "../../domain/password.ts";
import type { CheckSource } from "../../login/password-queue.ts";
import {
  type Counted,
  MAX_ACCOUNT_FAILURES,
  MAX_ADDRESS_FAILURES,
  MAX_FAILURES_OF_NETWORK,
} from "../../login/throttle.ts";
import { insertAccountEntries } from "../../store/audit.ts";
import { findUserByEmail, type UserRow } from "../../store/users.ts";
import { wrongPassword } from "../errors.ts";

const MAX_EMAIL_CHARACTERS = 320;
const IPV6_NETWORK_BYTES = 8;

interface Credentials {
  email: string;
  password: string;
}

/** An unknown user and a wrong password get the same error after the same work. */
export async function checkPassword(
  context: Context,
  { email, password }: Credentials,
  call: HandlerContext,
): Promise<UserRow> {
  const account = email.slice(0, MAX_EMAIL_CHARACTERS).toLowerCase();
  const source = await checkSource(context, account, call);
  return context.passwordQueue(source, () => checkNow(context, { account, password }, source));
}

/** Who wants a password of this account to be checked or hashed. */
export async function checkSource({ throttle }: Context, email: string, call: HandlerContext): Promise<CheckSource> {
  const account = accountHash(email);
  const network = callerNetwork(call);
  return { account, network, isKnown: await throttle.isKnown(pairOf(account, network)) };
}

async function checkNow(
  context: Context,
  { account, password }: { account: string; password: string },
  source: CheckSource,
): Promise<UserRow> {
  const counted = countedFor(source);
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
    if (source.network) await context.throttle.remember(pairOf(source.account, source.network));
    return user;
  }
  // Not awaited: the time of the response must not tell whether the user exists.
  if (user) context.afterwards(recordFailure(context, user));
  throw wrongPassword();
}

/**
 * The failure counters of an attempt. The account and network come first, because a success resets the first one. Only
 * this one counts for a network from which the account has been used before, so that failures of strangers do not lock
 * its owner out.
 */
export function countedFor({ account, network, isKnown }: CheckSource): Counted[] {
  const counted = [{ name: `account:${pairOf(account, network)}`, maxFailures: MAX_FAILURES_OF_NETWORK }];
  if (isKnown) return counted;
  counted.push({ name: `account:${account}`, maxFailures: MAX_ACCOUNT_FAILURES });
  if (network) counted.push({ name: `address:${network}`, maxFailures: MAX_ADDRESS_FAILURES });
  return counted;
}

function pairOf(account: string, network = "unknown"): string {
  return `${account}:${network}`;
}

/** Names an account in counters: they tell nobody who it is. */
export function accountHash(email: string): string {
  return createHash("sha256").update(email.toLowerCase()).digest("hex");
}

/** The IPv4 address, or the /64 network of an IPv6 address: a caller can pick any address in it. */
export function callerNetwork(call: Pick<HandlerContext, "requestHeader">): string | undefined {
  const bytes = parseIp(call.requestHeader.get(CLIENT_ADDRESS_HEADER) ?? "")?.toByteArray();
  if (!bytes) return undefined;
  return Buffer.from(bytes.length === 4 ? bytes : bytes.slice(0, IPV6_NETWORK_BYTES)).toString("hex");
}

function recordFailure({ pool, now }: Context, { id, email }: UserRow): Promise<void> {
  const actor = { id: null, name: "unknown" };
  return insertAccountEntries(pool, { at: now(), actor, action: "login.failure", userId: id, email });
}
