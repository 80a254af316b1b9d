import { expect, test } from "vitest";
import { readEvent } from "../load/evidence.ts";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";
import { startArchivedCluster } from "./archived-cluster.ts";
import { hasPostgresClients } from "./dump.ts";
import { setUp, useAll } from "./work.ts";

const clients = await hasPostgresClients();
if (!clients) test.skip("not run: PostgreSQL as it was at a moment (pg_basebackup is not on the PATH)", () => {});

const KEY = { name: "k", tools: ["plain"] };
/** The numbers of what is used when. */
const [IN_BASE_BACKUP, IN_LOG, TOO_LATE, AFTER] = [100, 200, 300, 400];

const statusOf = async ({ call }: RunningToolgate, secret: string) => (await call("plain", secret, { n: 0 })).status;

test.runIf(clients)(
  "PostgreSQL restored to a moment has all that was committed before it and nothing later",
  async () => {
    await using cluster = await startArchivedCluster();
    const { url: databaseUrl } = cluster;
    await using before = await runToolgate("single", { alone: true, databaseUrl });
    const revoke = (keyId: string) => before.manage("key_auth.v1.KeyService/RevokeKey", { keyId });
    const workspace = await setUp(before);
    await useAll(before, workspace, IN_BASE_BACKUP);
    await cluster.baseBackup();
    await useAll(before, workspace, IN_LOG);
    const [revokedBefore, revokedAfter] = [await before.createKey(KEY), await before.createKey(KEY)];
    await revoke(revokedBefore.id);
    const moment = await cluster.now();

    // What the restore undoes, with the accident that is its reason.
    await revoke(revokedAfter.id);
    const createdAfter = await before.createKey(KEY);
    await useAll(before, workspace, TOO_LATE);
    await before.manage("tool_runner.v1.ToolService/DeleteTool", { name: "plain" });
    expect(await statusOf(before, workspace.key.secret)).toBe(403);
    await before[Symbol.asyncDispose]();

    await cluster.recoverTo(moment);
    // NATS and Redis are emptied, because what they have is newer.
    await using after = await runToolgate("single", { former: before, databaseUrl });
    await useAll(after, workspace, AFTER);
    const secrets = [revokedBefore, revokedAfter, createdAfter].map(({ secret }) => secret);
    expect(await Promise.all(secrets.map((secret) => statusOf(after, secret)))).toEqual([401, 200, 401]);
    const { rows } = await after.pool.query("select body from outbound_webhook.event");
    const numbers = rows.map(({ body }) => readEvent(body).n).toSorted((a, b) => a - b);
    // The call between them is of the tool without events.
    expect(numbers.filter((n) => n >= IN_LOG && n < TOO_LATE)).toEqual([IN_LOG, IN_LOG + 2, IN_LOG + 3]);
    expect(numbers.filter((n) => n >= TOO_LATE && n < AFTER)).toEqual([]);
  },
);
