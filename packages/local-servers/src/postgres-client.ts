import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Client } from "pg";
import { loadJson, saveJson } from "./saved-json.ts";

const CONNECT_TIMEOUT_MS = 2_000;
const PASSWORD_BYTES = 24;
export const SUPERUSER = "postgres";

/** The passwords of a cluster's superuser and of the owner of Toolgate's database. */
export type Passwords = { readonly superuser: string; readonly owner: string };

/** Reads the passwords kept in `folder`; makes them when the cluster is new, as only then they can still be set. */
export async function readPasswords(folder: string, isNew: boolean): Promise<Passwords> {
  const file = join(folder, "passwords.json");
  const kept = await loadJson<Passwords>(file);
  if (kept) return kept;
  if (!isNew) throw new Error(`${file} is missing, so the cluster next to it cannot be opened`);
  const password = () => randomBytes(PASSWORD_BYTES).toString("hex");
  const passwords = { superuser: password(), owner: password() };
  await saveJson(file, passwords);
  return passwords;
}

/** True when the cluster on this port responds to a query, and is the one in the folder `cluster` if that is given. */
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

/** A connection as the superuser, not yet opened. */
export function superuserClient(port: number, passwords: Passwords): Client {
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
