import { execFile } from "node:child_process";
import { appendFile, chown, mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "@toolgate/testbed/eventually";
import { startOwnPostgres } from "@toolgate/testbed/servers/own-postgres";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { Client } from "pg";

/** A PostgreSQL that archives its write-ahead log, as docs/backup.md describes. */
export interface ArchivedCluster extends AsyncDisposable {
  /** For the owner of the database, who may create roles. */
  url: string;
  baseBackup(): Promise<void>;
  /** The time of the server. */
  now(): Promise<string>;
  /** Archives all that is committed, stops the server, and starts it from the base backup as it was at this time. */
  recoverTo(time: string): Promise<void>;
}

const PATIENCE = { deadlineMs: 60_000, everyMs: 100 };

export async function startArchivedCluster(): Promise<ArchivedCluster> {
  await using resources = new AsyncDisposableStack();
  const folder = await temporaryFolder();
  const { server, home, cluster, account, superuserUrl } = resources.use(await startOwnPostgres(folder));
  const { uid, gid } = account;
  const base = join(home, "base");
  const archive = join(home, "archive");
  await mkdir(archive);
  await chown(archive, uid, gid);
  const query = async (statement: string): Promise<Record<string, string>> => {
    const client = new Client({ connectionString: superuserUrl });
    await client.connect();
    try {
      return (await client.query(statement)).rows[0];
    } finally {
      await client.end();
    }
  };
  await query("alter system set archive_mode = 'on'");
  await query(`alter system set archive_command = 'cp %p "${archive}/%f"'`);
  await server.restart();
  const owned = resources.move();
  return {
    url: server.url,
    async baseBackup() {
      const args = ["-d", superuserUrl, "-D", base, "--checkpoint=fast", "--no-sync"];
      await promisify(execFile)("pg_basebackup", args, { cwd: home, uid, gid });
    },
    now: async () => (await query("select clock_timestamp()::text as now")).now ?? "",
    async recoverTo(time) {
      const { file = "" } = await query("select pg_walfile_name(pg_switch_wal()) as file");
      await eventually(async () => {
        const { archived } = await query("select last_archived_wal as archived from pg_stat_archiver");
        return (archived ?? "") >= file;
      }, PATIENCE);
      await server.stop();
      await rename(cluster, join(home, "lost"));
      await rename(base, cluster);
      const settings = [
        `restore_command = 'cp "${archive}/%f" %p'`,
        `recovery_target_time = '${time}'`,
        "recovery_target_action = 'promote'",
      ];
      await appendFile(join(cluster, "postgresql.auto.conf"), `${settings.join("\n")}\n`);
      await writeFile(join(cluster, "recovery.signal"), "");
      await chown(join(cluster, "recovery.signal"), uid, gid);
      await server.restart();
      await eventually(
        async () => (await query("select pg_is_in_recovery()::text as still")).still === "false",
        PATIENCE,
      );
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
