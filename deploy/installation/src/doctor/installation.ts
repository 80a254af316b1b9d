import type { Env } from "@toolgate/service-host/env";
import { SERVER_USERS, type ServerUser } from "@toolgate/service-registry/server-users";
import type { Need } from "@toolgate/service-registry/service-entry";
import { SERVICE_NAMES, serviceEntry, urlVariable } from "@toolgate/service-registry/services";
import { loginsIn } from "../logins.ts";

/** The processes that log in as one user, and what they are given. */
export interface Member {
  readonly user: ServerUser;
  readonly env: Env;
  readonly needs: readonly Need[];
}

/** An installation as its settings describe it. */
export interface Installation {
  readonly env: Env;
  readonly members: readonly Member[];
  /** Each service is a process of its own: their addresses are set. */
  readonly isSplit: boolean;
}

/**
 * From the same variables as the services': with `LOGINS`, each has its own addresses from that folder. Throws when the
 * folder cannot be read.
 */
export function installationOf(env: Env): Installation {
  const logins = env.LOGINS ? loginsIn(env.LOGINS) : {};
  const members = SERVER_USERS.map((user) => {
    const own = { ...env, ...logins[user.name], ROLES: user.roles?.join(",") };
    return { user, env: own, needs: needsOf(user) };
  });
  return { env, members, isSplit: SERVICE_NAMES.some((name) => Boolean(env[urlVariable(name)])) };
}

function needsOf({ service, roles = [] }: ServerUser): readonly Need[] {
  const entry = serviceEntry(service);
  return roles.length === 0 ? entry.needs : roles.flatMap((role) => entry.roles?.[role]?.needs ?? []);
}

const SECRETS = ["SERVICE_KEY", "SANDBOX_TOKEN", "SANDBOX_TOKEN_HASH"];
const ADDRESSES = ["DATABASE_URL", "NATS_URL", "REDIS_URL", "SMTP_URL"];
const PASSWORD = /:\/\/[^:@/]*:([^@/]+)@/g;

/** What must not be shown. */
export function secretsIn(env: Env): string[] {
  const passwords = ADDRESSES.flatMap((name) =>
    [...(env[name] ?? "").matchAll(PASSWORD)].map(([, found = ""]) => found),
  );
  const sealing = (env.SEALING_KEYS ?? "").split(",").map((key) => key.replace(/^\s*\d+:/, "").trim());
  const others = SECRETS.flatMap((name) => (env[name] ?? "").split(",").map((part) => part.trim()));
  return [...passwords, ...passwords.map(decoded), ...sealing, ...others];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
