import { readFile } from "node:fs/promises";
import { succeeds } from "./child.ts";
import type { Account } from "./server-process.ts";

/**
 * The user that runs PostgreSQL: `undefined` (ourselves) unless we are root, which PostgreSQL refuses;
 * then the user `postgres` of the package, else `nobody`.
 */
export async function postgresAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const lines = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"));
  for (const name of ["postgres", "nobody"]) {
    const [, , uid, gid] = lines.find((fields) => fields[0] === name) ?? [];
    if (uid && gid) return { name, uid: Number(uid), gid: Number(gid) };
  }
  throw new Error("PostgreSQL refuses to run as root, and there is no user postgres or nobody on this machine");
}

/** True when `account` can enter and write `folder`. Tries it, because ACLs and the modes of parents matter too. */
export function canUse({ uid, gid }: Account, folder: string): Promise<boolean> {
  return succeeds("/bin/sh", ["-c", 'cd "$1" && test -w .', "sh", folder], { cwd: "/", uid, gid });
}
