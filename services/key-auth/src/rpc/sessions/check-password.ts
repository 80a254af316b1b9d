import { createHash } from "node:crypto";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { parseIp } from "@toolgate/ip-address/ip-address";
import { CLIENT_ADDRESS_HEADER } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { MAX_PASSWORD_CHARACTERS, passwordMatches } from "../../domain/password.ts";
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
export function checkPassword(context: Context, credentials: Credentials, call: HandlerContext): Promise<UserRow> {
  return context.limitHashing(() => checkWithin(context, credentials, call));
}

async function checkWithin(context: Context, { email, password }: Credentials, call: HandlerContext): Promise<UserRow> {
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
  // Not awaited: the time of the response must not tell whether the user exists.
  if (user) context.afterwards(recordFailure(context, user));
  throw wrongPassword();
}

/** The failure counters of an attempt. The account and network come first, because a success resets the first one. */
export function countedFor(account: string, network: string | undefined): Counted[] {
  const hash = createHash("sha256").update(account).digest("hex");
  const counted = [
    { name: `account:${hash}:${network ?? "unknown"}`, maxFailures: MAX_FAILURES_OF_NETWORK },
    { name: `account:${hash}`, maxFailures: MAX_ACCOUNT_FAILURES },
  ];
  if (network) counted.push({ name: `address:${network}`, maxFailures: MAX_ADDRESS_FAILURES });
  return counted;
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
