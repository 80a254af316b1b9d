import { createHash, randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { loadJson, saveJson } from "./saved-json.ts";

/** A user of NATS or Redis, and what it may do, in the words of the server's configuration. */
export type UserRules = { readonly name: string; readonly rules: string };

/** The users of the servers, in addition to `ADMIN`. */
export type UsersOfServers = {
  readonly nats: readonly UserRules[];
  readonly redis: readonly UserRules[];
  /** Absent: the administrator may create roles. */
  readonly postgres?: readonly DatabaseUser[];
};

/** A login of Toolgate's database. */
export type DatabaseUser = {
  /** The name of its address in `urls`. */
  readonly name: string;
  readonly role: string;
  /** The administrator may act as it, and so give it a schema. */
  readonly ofAdmin?: boolean;
  /** It may create schemas of its own. */
  readonly createsSchemas?: boolean;
};

/** The user that may do everything on a server: it is for operators, and for a single process with all services. */
export const ADMIN = "toolgate";

const PASSWORD_BYTES = 24;

/** The passwords of users of a server, kept in its folder and made when they are missing. */
export async function accountsOf(folder: string, names: readonly string[]): Promise<Readonly<Record<string, string>>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "accounts.json");
  const kept = (await loadJson<Record<string, string>>(file)) ?? {};
  const missing = names.filter((name) => kept[name] === undefined);
  if (missing.length === 0) return kept;
  const made = missing.map((name) => [name, randomBytes(PASSWORD_BYTES).toString("hex")] as const);
  const accounts = { ...kept, ...Object.fromEntries(made) };
  await saveJson(file, accounts);
  return accounts;
}

type Passwords = Readonly<Record<string, string>>;

/** Lines of the configuration of nats-server: nobody gets in without a login. */
export function natsAuthorization(users: readonly UserRules[], passwords: Passwords): string[] {
  const user = (name: string, rules: string) =>
    `    { user: ${JSON.stringify(name)}, password: ${JSON.stringify(passwords[name])}${rules && `, ${rules}`} }`;
  return [
    "authorization {",
    "  users: [",
    ...[user(ADMIN, ""), ...users.map(({ name, rules }) => user(name, rules))],
    "  ]",
    "}",
  ];
}

/** Lines of the configuration of redis-server: nobody gets in without a login. */
export function redisAcl(users: readonly UserRules[], passwords: Passwords): string[] {
  // A hash is enough: the passwords are random. The configuration then lets nobody in who can read it.
  const hashOf = (name: string) =>
    createHash("sha256")
      .update(passwords[name] ?? "")
      .digest("hex");
  const user = (name: string, rules: string) => `user ${name} on #${hashOf(name)} ${rules}`;
  return ["user default off", user(ADMIN, "~* &* +@all"), ...users.map(({ name, rules }) => user(name, rules))];
}

/** The address of a server for each of its users. */
export function urlsOf(protocol: string, port: number, passwords: Passwords): Record<string, string> {
  return Object.fromEntries(
    Object.entries(passwords).map(([name, password]) => [name, `${protocol}://${name}:${password}@127.0.0.1:${port}`]),
  );
}
