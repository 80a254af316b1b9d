import { createHash, randomBytes } from "node:crypto";
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

/** Passwords by user. */
export type Passwords<Name extends string = string> = Readonly<Record<Name, string>>;

/** The passwords of `names` that `file` keeps; those that are missing are made. */
export async function keptPasswords<Name extends string>(
  file: string,
  names: readonly Name[],
): Promise<Passwords<Name>> {
  const kept = (await loadJson<Partial<Passwords<Name>>>(file)) ?? {};
  const made = Object.fromEntries(names.map((name) => [name, randomBytes(PASSWORD_BYTES).toString("hex")]));
  const passwords = { ...made, ...kept } as Passwords<Name>;
  if (names.some((name) => !(name in kept))) await saveJson(file, passwords);
  return passwords;
}

/** Lines of the configuration of nats-server: nobody gets in without a login. */
export function natsAuthorization(users: readonly UserRules[], passwords: Passwords): string[] {
  const user = (name: string, rules: string) =>
    `    { user: ${JSON.stringify(name)}, password: ${JSON.stringify(passwords[name])}${rules && `, ${rules}`} }`;
  return [
    "authorization {",
    // Seconds to log in. NATS itself gives 2, which are too few on a busy machine.
    "  timeout: 30",
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
