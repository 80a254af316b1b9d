import { expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";
import { startArchivedCluster } from "./archived-cluster.ts";
import { hasPostgresClients } from "./dump.ts";
import { KEY, setUp, useAll } from "./work.ts";

const clients = await hasPostgresClients();
if (!clients) test.skip("not run: PostgreSQL as it was at a moment (pg_basebackup is not on the PATH)", () => {});

const statusOf = async ({ call }: RunningToolgate, secret: string) =>
  (await call("echo", secret, { text: "x" })).status;

test.runIf(clients)(
  "PostgreSQL restored to a moment has all that was committed before it and nothing later",
  async () => {
    await using cluster = await startArchivedCluster();
    const { url: databaseUrl } = cluster;
    await using before = await runToolgate("single", { alone: true, databaseUrl });
    const revoke = (keyId: string) => before.manage("key_auth.v1.KeyService/RevokeKey", { keyId });
    const setup = await setUp(before);
    await useAll(before, setup, "in-the-base-backup");
    await cluster.baseBackup();
    await useAll(before, setup, "in-the-log");
    const [revokedBefore, revokedAfter] = [await before.createKey(KEY), await before.createKey(KEY)];
    await revoke(revokedBefore.id);
    const moment = await cluster.now();

    // What the restore undoes, with the accident that is its reason.
    await revoke(revokedAfter.id);
    const createdAfter = await before.createKey(KEY);
    await useAll(before, setup, "too-late");
    await before.manage("tool_runner.v1.ToolService/DeleteTool", { name: "echo" });
    expect(await statusOf(before, setup.secret)).toBe(403);
    await before[Symbol.asyncDispose]();

    await cluster.recoverTo(moment);
    // NATS and Redis are emptied, because what they have is newer.
    await using after = await runToolgate("single", { former: before, databaseUrl });
    await useAll(after, setup, "after");
    const secrets = [revokedBefore, revokedAfter, createdAfter].map(({ secret }) => secret);
    expect(await Promise.all(secrets.map((secret) => statusOf(after, secret)))).toEqual([401, 200, 401]);
    const { rows } = await after.pool.query(
      `select count(*) filter (where convert_from(body, 'utf8') like '%in-the-log-call%')::int as before,
         count(*) filter (where convert_from(body, 'utf8') like '%too-late-call%')::int as after
       from outbound_webhook.event`,
    );
    expect(rows).toEqual([{ before: 1, after: 0 }]);
  },
);
