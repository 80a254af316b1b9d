import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";

/** A user of this machine. */
export type Account = { readonly name: string; readonly uid: number; readonly gid: number };

/**
 * The user under which PostgreSQL is to run: `undefined` (ourselves) unless we are root, which PostgreSQL refuses;
 * then the user `postgres` of the package, else `nobody`.
 */
export async function postgresAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = (await readFile("/etc/passwd", "utf8")).split("\n").map(parseAccount);
  for (const wanted of ["postgres", "nobody"]) {
    const account = accounts.find((candidate) => candidate?.name === wanted);
    if (account) return account;
  }
  throw new Error("PostgreSQL refuses to run as root, and there is no user postgres or nobody on this machine");
}

/** True when `account` can enter and write `folder`. Tried, not computed: modes of all parents and ACLs decide it. */
export async function canUse(account: Account, folder: string): Promise<boolean> {
  const child = spawn("/bin/sh", ["-c", 'cd "$1" && test -w .', "sh", folder], {
    cwd: "/",
    stdio: "ignore",
    uid: account.uid,
    gid: account.gid,
  });
  const [code] = await once(child, "exit");
  return code === 0;
}

function parseAccount(line: string): Account | undefined {
  const [name, , uid, gid] = line.split(":");
  return name && uid && gid ? { name, uid: Number(uid), gid: Number(gid) } : undefined;
}
