import { join } from "node:path";
import { type ClusterPasswords, superuserClient } from "./postgres-client.ts";
import { ADMIN, type DatabaseUser, keptPasswords } from "./server-accounts.ts";

/** A login of the database with its password. */
type DatabaseLogin = DatabaseUser & { readonly password: string };

/** The logins of a cluster with their passwords, which are kept in its folder. */
export async function databaseLogins(
  folder: string,
  users: readonly DatabaseUser[] | undefined,
): Promise<DatabaseLogin[] | undefined> {
  if (users === undefined) return undefined;
  const roles = users.map(({ role }) => role);
  const passwords = await keptPasswords(join(folder, "accounts.json"), roles);
  return users.map((user) => ({ ...user, password: passwords[user.role] ?? "" }));
}

/** The address of the database `toolgate` for its owner and for each login. */
export function databaseUrls(port: number, { owner }: ClusterPasswords, logins: readonly DatabaseLogin[] = []) {
  const users = [{ name: ADMIN, role: ADMIN, password: owner }, ...logins];
  return Object.fromEntries(
    users.map(({ name, role, password }) => [name, `postgres://${role}:${password}@127.0.0.1:${port}/${ADMIN}`]),
  );
}

/** Creates the owner, the database and the other logins unless they exist, with the rights that they have now. */
export async function createRoles(
  port: number,
  passwords: ClusterPasswords,
  logins: readonly DatabaseLogin[] | undefined,
): Promise<void> {
  const client = superuserClient(port, passwords);
  await client.connect();
  const exists = async (text: string, name: string) => (await client.query(text, [name])).rowCount !== 0;
  const setRole = async (role: string, password: string, rights: string) => {
    const verb = (await exists("select from pg_roles where rolname = $1", role)) ? "alter" : "create";
    await client.query(`${verb} role ${role} login ${rights} password ${client.escapeLiteral(password)}`);
  };
  try {
    await setRole(ADMIN, passwords.owner, `createdb ${logins ? "nocreaterole" : "createrole"}`);
    if (!(await exists("select from pg_database where datname = $1", ADMIN))) {
      await client.query(`create database ${ADMIN} owner ${ADMIN}`);
    }
    for (const { role, password, ofAdmin, createsSchemas } of logins ?? []) {
      await setRole(role, password, "nosuperuser nocreatedb nocreaterole");
      if (ofAdmin) await client.query(`grant ${role} to ${ADMIN}`);
      if (createsSchemas) await client.query(`grant create on database ${ADMIN} to ${role}`);
    }
  } finally {
    await client.end();
  }
}
