import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { startServers } from "@toolgate/local-servers/start-servers";

/** A PostgreSQL for one test, whose settings and files the test may change. It stops when the test disposes of it. */
export async function startOwnPostgres(folder: string) {
  await using resources = new AsyncDisposableStack();
  const { running } = resources.use(
    await startServers({ names: ["postgres"], dataDir: folder, log: console.log, durable: false }),
  );
  const server = running.postgres;
  const home = join(folder, "postgres");
  const cluster = join(home, "cluster");
  const { superuser } = JSON.parse(await readFile(join(home, "passwords.json"), "utf8"));
  const { uid, gid } = await stat(cluster);
  const owned = resources.move();
  return {
    server,
    home,
    cluster,
    /** The account that owns the cluster's files. */
    account: { uid, gid },
    superuserUrl: `postgres://postgres:${superuser}@${new URL(server.url).host}/postgres`,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
