import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";

const CONNECT_TIMEOUT_MS = 2_000;
const PASSWORD_BYTES = 24;
const OWNER = "toolgate";

export const SUPERUSER = "postgres";

/** The passwords of a cluster's superuser and of the owner of Toolgate's database. */
export type Passwords = { readonly superuser: string; readonly owner: string };

/** Reads the passwords kept in `folder`; makes them when the cluster is new, as only then they can still be set. */
export async function readPasswords(folder: string, isNew: boolean): Promise<Passwords> {
  const file = join(folder, "passwords.json");
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text !== undefined) return JSON.parse(text);
  if (!isNew) throw new Error(`${file} is missing, so the cluster beside it cannot be opened`);
  const password = () => randomBytes(PASSWORD_BYTES).toString("hex");
  const passwords = { superuser: password(), owner: password() };
  await writeFile(`${file}.new`, JSON.stringify(passwords), { mode: 0o600 });
  await rename(`${file}.new`, file);
  return passwords;
}

/** The address of the database `toolgate` for its owner. */
export function ownerUrl(port: number, passwords: Passwords): string {
  return `postgres://${OWNER}:${passwords.owner}@127.0.0.1:${port}/${OWNER}`;
}

/** True when the cluster on this port answers a query, and is the one in the folder `cluster` where that is given. */
export async function isPostgresReady(port: number, passwords: Passwords, cluster?: string): Promise<boolean> {
  const client = superuserClient(port, passwords);
  try {
    await client.connect();
    const { rows } = await client.query("show data_directory");
    return cluster === undefined || rows[0]?.data_directory === cluster;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Creates the owner, who is no superuser and may create databases and roles, and the database, unless they exist. */
export async function createOwner(port: number, passwords: Passwords): Promise<void> {
  const client = superuserClient(port, passwords);
  await client.connect();
  try {
    const role = await client.query("select from pg_roles where rolname = $1", [OWNER]);
    if (role.rowCount === 0) {
      const password = client.escapeLiteral(passwords.owner);
      await client.query(`create role ${OWNER} login createdb createrole password ${password}`);
    }
    const database = await client.query("select from pg_database where datname = $1", [OWNER]);
    if (database.rowCount === 0) await client.query(`create database ${OWNER} owner ${OWNER}`);
  } finally {
    await client.end();
  }
}

function superuserClient(port: number, passwords: Passwords): Client {
  const client = new Client({
    host: "127.0.0.1",
    port,
    user: SUPERUSER,
    password: passwords.superuser,
    database: "postgres",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on("error", () => {});
  return client;
}
