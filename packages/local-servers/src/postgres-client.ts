import { existsSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { keptPasswords, type Passwords } from "./server-accounts.ts";

const CONNECT_TIMEOUT_MS = 2_000;
export const SUPERUSER = "postgres";

/** The passwords of a cluster's superuser and of the owner of Toolgate's database. */
export type ClusterPasswords = Passwords<"superuser" | "owner">;

/** Reads the passwords kept in `folder`; makes them when the cluster is new, as only then they can still be set. */
export async function readPasswords(folder: string, isNew: boolean): Promise<ClusterPasswords> {
  const file = join(folder, "passwords.json");
  if (!isNew && !existsSync(file)) throw new Error(`${file} is missing, so the cluster next to it cannot be opened`);
  return keptPasswords(file, ["superuser", "owner"]);
}

/** True when the cluster on this port responds to a query, and is the one in the folder `cluster` if that is given. */
export async function isPostgresReady(port: number, passwords: ClusterPasswords, cluster?: string): Promise<boolean> {
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
export function superuserClient(port: number, passwords: ClusterPasswords): Client {
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
