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
const IPV6_SITE_BYTES = 6;

interface Credentials {
  email: string;
  password: string;
}

/** Who wants a password to be checked for a login. */
export async function loginSource(
  { devices, throttle }: Context,
  { email, deviceToken }: { email: string; deviceToken: string },
  call: HandlerContext,
): Promise<CheckSource> {
  const account = accountHash(email);
  const network = callerNetwork(call);
  const device = devices.find(account, deviceToken);
  const isKnown = device !== undefined || (await throttle.isKnown(pairOf(account, network)));
  return { account, network, site: siteOf(network), device, isKnown };
}

/** Who wants a password to be checked in a session: no stranger, and its guesses are its own. */
export function sessionSource({ id, email }: { id: string; email: string }): CheckSource {
  return { account: accountHash(email), network: undefined, device: `session:${id}`, isKnown: true };
}

/**
 * An unknown user and a wrong password get the same error after the same work. `signal` fires when the caller leaves, who
 * then does not wait in the queue any longer.
 */
export async function checkPassword(
  context: Context,
  { email, password }: Credentials,
  source: CheckSource,
  signal: AbortSignal,
): Promise<UserRow> {
  const credentials = { account: normalized(email), password };
  return context.passwordQueue(source, () => checkNow(context, credentials, source), signal);
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
  const { user, matches } = await compare(context, account, password).catch(async (error: unknown) => {
    // Not the caller's failure: Postgres is down.
    await context.throttle.withdraw(counted);
    throw error;
  });
  if (user && matches) {
    await context.throttle.succeeded(counted);
    if (source.network) await context.throttle.remember(pairOf(source.account, source.network));
    return user;
  }
  // Not awaited: the time of the response must not tell whether the user exists.
  if (user) context.afterwards(recordFailure(context, user));
  throw wrongPassword();
}

async function compare({ pool }: Context, account: string, password: string) {
  const user = await findUserByEmail(pool, account);
  return { user, matches: await passwordMatches(password.slice(0, MAX_PASSWORD_CHARACTERS), user?.passwordHash) };
}

/**
 * The failure counters of an attempt; a success resets the first one. A known device has a counter of its own, and for a
 * network from which the account has been used before, only that of account and network counts, so that failures of
 * strangers do not lock the account's owner out.
 */
export function countedFor({ account, network, device, isKnown }: CheckSource): Counted[] {
  if (device !== undefined) return [{ name: `device:${account}:${device}`, maxFailures: MAX_FAILURES_OF_NETWORK }];
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
  return createHash("sha256").update(normalized(email)).digest("hex");
}

function normalized(email: string): string {
  return email.slice(0, MAX_EMAIL_CHARACTERS).toLowerCase();
}

/** The IPv4 address, or the /64 network of an IPv6 address: a caller can pick any address in it. */
export function callerNetwork(call: Pick<HandlerContext, "requestHeader">): string | undefined {
  const bytes = parseIp(call.requestHeader.get(CLIENT_ADDRESS_HEADER) ?? "")?.toByteArray();
  if (!bytes) return undefined;
  return Buffer.from(bytes.length === 4 ? bytes : bytes.slice(0, IPV6_NETWORK_BYTES)).toString("hex");
}

/** The /48 of an IPv6 network, which is what one subscriber has at most, or the IPv4 address. */
function siteOf(network: string | undefined): string | undefined {
  return network?.slice(0, 2 * IPV6_SITE_BYTES);
}

function recordFailure({ pool, now }: Context, { id, email }: UserRow): Promise<void> {
  const actor = { id: null, name: "unknown" };
  return insertAccountEntries(pool, { at: now(), actor, action: "login.failure", userId: id, email });
}
