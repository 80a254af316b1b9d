import { createHash } from "node:crypto";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { parseIp } from "@toolgate/ip-address/ip-address";
import { CLIENT_ADDRESS_HEADER } from "@toolgate/service-host/principal";
import type { Context } from "../../context.ts";
import { MAX_PASSWORD_CHARACTERS, passwordMatches } from "../../domain/password.ts";
import type { Counted } from "../../login/throttle.ts";
import { insertAccountEntries } from "../../store/audit.ts";
import { findUserByEmail, type UserRow } from "../../store/users.ts";
import { wrongPassword } from "../errors.ts";

const MAX_EMAIL_CHARACTERS = 320;
const IPV6_NETWORK_BYTES = 8;

interface Credentials {
  email: string;
  password: string;
}

/**
 * The failure counters of a login. A known device has a counter of its own, so that strangers cannot lock it out, not even
 * from the same network.
 */
export function countedForLogin(
  devices: Context["devices"],
  { email, deviceToken }: { email: string; deviceToken: string },
  call: Pick<HandlerContext, "requestHeader">,
): Counted {
  const account = accountHash(email);
  const device = devices.find(account, deviceToken);
  if (device !== undefined) return { device: `${account}:${device}` };
  const network = callerNetwork(call);
  return { ...(network && { network }), pair: `${account}:${network ?? "unknown"}`, account };
}

/** The counter of links that stand for nothing. */
export function countedForLink(call: Pick<HandlerContext, "requestHeader">): Counted {
  const network = callerNetwork(call);
  return { ...(network && { network }) };
}

/** The counter of a session that changes its password: it is no stranger, and its guesses are its own. */
export function countedForSession({ id, email }: { id: string; email: string }): Counted {
  return { device: `${accountHash(email)}:session:${id}` };
}

/** Whose logins wait for each other: a known device's, or a network's. */
export function holderOf({ device, network }: Counted): string {
  return device ?? network ?? "unknown";
}

/** Counts an attempt, or refuses it. */
export async function beginAttempt({ throttle }: Pick<Context, "throttle">, counted: Counted): Promise<void> {
  const retryAfterS = await throttle.begin(counted);
  if (retryAfterS === undefined) return;
  const retryAfter = { "retry-after": String(retryAfterS) };
  throw new ConnectError(`too many failures: try again in ${retryAfterS} s`, Code.ResourceExhausted, retryAfter);
}

/** An unknown user and a wrong password get the same error after the same work. */
export async function checkPassword(
  context: Context,
  { email, password }: Credentials,
  counted: Counted,
  signal: AbortSignal,
): Promise<UserRow> {
  const { throttle, passwordHashes } = context;
  await beginAttempt(context, counted);
  const compared = passwordHashes(holderOf(counted), () => compare(context, normalized(email), password), signal);
  const { user, matches } = await compared.catch(async (error: unknown) => {
    // Not the caller's failure: Postgres is down, or the server is busy.
    await throttle.end(counted, false);
    throw error;
  });
  if (user && matches) {
    await throttle.end(counted, true);
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

/** Names an account in counters: they tell nobody who it is. */
export function accountHash(email: string): string {
  return createHash("sha256").update(normalized(email)).digest("hex");
}

function normalized(email: string): string {
  return email.slice(0, MAX_EMAIL_CHARACTERS).toLowerCase();
}

/** The IPv4 address, or the /64 network of an IPv6 address: a caller can pick any address in it. */
function callerNetwork(call: Pick<HandlerContext, "requestHeader">): string | undefined {
  const bytes = parseIp(call.requestHeader.get(CLIENT_ADDRESS_HEADER) ?? "")?.toByteArray();
  if (!bytes) return undefined;
  return Buffer.from(bytes.length === 4 ? bytes : bytes.slice(0, IPV6_NETWORK_BYTES)).toString("hex");
}

function recordFailure({ pool, now }: Context, user: UserRow): Promise<void> {
  const actor = { id: null, name: "unknown" };
  return insertAccountEntries(pool, { user, action: "login.failure", at: now(), actor });
}
