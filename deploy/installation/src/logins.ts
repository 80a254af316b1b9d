import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { natsAuthorization, redisAcl } from "@toolgate/local-servers/server-accounts";
import { newServiceKey, publicKeyList, publicKeyOf } from "@toolgate/service-host/identity/service-keys";
import { natsUsers, redisUsers, SERVER_USERS } from "@toolgate/service-registry/server-users";
import { CALLING_SERVICES, variablesOf as readBy, type ServiceName } from "@toolgate/service-registry/services";
import { type RolePasswords, roleUrls, SERVICES_WITH_SCHEMA } from "./migrate.ts";

/** Where the servers are: addresses without credentials for NATS and Redis, the administrator's for Postgres. */
export interface ServerAddresses {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly redisUrl: string;
}

const PASSWORD_BYTES = 24;
const VARIABLE = /^([A-Z_]+)=(.*)$/;
const PASSWORD = /:\/\/[^:@/]+:([^@/]+)@/;
const ADDRESS = /^([a-z]+:\/\/)(?:[^/]*@)?([^@]+)$/i;
const ADMIN_FILE = "toolgate.env";

/**
 * Writes into a folder what gives every service a login of its own: `<user>.env` with the addresses for it, and what the
 * configurations of NATS and Redis include. The files also have the keys with which services call each other. Keeps the
 * passwords and keys that the folder already has. Only its owner may read it.
 * Returns the names of the files.
 */
export async function writeLogins(folder: string, addresses: ServerAddresses): Promise<string[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const passwords: Record<string, string> = {};
  for (const name of ["toolgate", ...SERVER_USERS.map((user) => user.name)]) {
    passwords[name] = (await passwordIn(folder, name)) ?? randomBytes(PASSWORD_BYTES).toString("hex");
  }
  const keys = await serviceKeys(folder);
  const files: Record<string, string[]> = {
    "nats-users.conf": natsAuthorization(natsUsers(), passwords),
    "redis-users.conf": redisAcl(redisUsers(), passwords),
    [ADMIN_FILE]: lines({
      NATS_URL: withLogin(addresses.natsUrl, "toolgate", passwords.toolgate),
      REDIS_URL: withLogin(addresses.redisUrl, "toolgate", passwords.toolgate),
      DATABASE_URL: addresses.databaseUrl,
    }),
  };
  const databaseUrls = roleUrls(addresses.databaseUrl, passwords);
  for (const { name, service, redisKeys, role } of SERVER_USERS) {
    const reads = readBy(service, role);
    files[`${name}.env`] = lines({
      NATS_URL: withLogin(addresses.natsUrl, name, passwords[name]),
      REDIS_URL: redisKeys.length > 0 ? withLogin(addresses.redisUrl, name, passwords[name]) : undefined,
      DATABASE_URL: reads.includes("DATABASE_URL") ? databaseUrls[service] : undefined,
      SERVICE_KEY: reads.includes("SERVICE_KEY") ? keys.own[service] : undefined,
      SERVICE_PUBLIC_KEYS: keys.listed,
    });
  }
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, name), `${content.join("\n")}\n`, { mode: 0o600 });
  }
  return Object.keys(files);
}

/** The passwords of the services' roles in such a folder. */
export async function readRolePasswords(folder: string): Promise<RolePasswords> {
  const passwords = await Promise.all(
    SERVICES_WITH_SCHEMA.map(async (service) => {
      const password = await passwordIn(folder, service);
      if (password === undefined) throw new Error(`${folder} has no login of ${service}: run logins-main.ts first`);
      return [service, password] as const;
    }),
  );
  return Object.fromEntries(passwords);
}

/** Each user's variables in such a folder. */
export function loginsIn(folder: string): Record<string, Record<string, string>> {
  return Object.fromEntries(
    SERVER_USERS.map(({ name }) => [name, variablesOf(readFileSync(join(folder, `${name}.env`), "utf8"))]),
  );
}

/** The key of each service, and the list of their public keys, which has more than one while a service gets another. */
async function serviceKeys(folder: string): Promise<{ own: Record<ServiceName, string>; listed: string }> {
  const own = {} as Record<ServiceName, string>;
  const listed = new Set<string>();
  for (const name of CALLING_SERVICES) {
    const variables = await variablesIn(folder, name);
    own[name] = variables.SERVICE_KEY ?? newServiceKey().serviceKey;
    const entries = (variables.SERVICE_PUBLIC_KEYS ?? "").split(",").filter((entry) => entry !== "");
    for (const [service, key] of publicKeyList(entries)) listed.add(`${service}:${key}`);
    listed.add(`${name}:${publicKeyOf(own[name])}`);
  }
  return { own, listed: [...listed].join(",") };
}

async function passwordIn(folder: string, user: string): Promise<string | undefined> {
  return PASSWORD.exec((await variablesIn(folder, user)).NATS_URL ?? "")?.[1];
}

async function variablesIn(folder: string, user: string): Promise<Record<string, string>> {
  const text = await readFile(join(folder, `${user}.env`), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  return variablesOf(text);
}

function variablesOf(text: string): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const [, name, value = ""] = VARIABLE.exec(line) ?? [];
    if (name !== undefined) variables[name] = value;
  }
  return variables;
}

function lines(variables: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
}

/** For each of several addresses. Not by `URL`, which adds a slash. */
function withLogin(addresses: string, user: string, password = ""): string {
  return addresses
    .split(",")
    .map((address) => {
      const [, protocol, host] = ADDRESS.exec(address.trim()) ?? [];
      // Without the scheme, NATS and Redis would take it, but nobody could log in.
      if (!protocol || !host)
        throw new Error("the addresses of NATS and Redis must begin with a scheme, such as nats://");
      return `${protocol}${user}:${password}@${host}`;
    })
    .join(",");
}
