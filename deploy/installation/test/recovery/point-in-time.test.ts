import { testNats, testRedis } from "@toolgate/testbed/servers";
import { expect, test } from "vitest";
import { startArchivedCluster } from "./archived-cluster.ts";
import { hasPostgresClients } from "./dump.ts";
import { rowsOf } from "./retries.ts";
import { openSite } from "./site.ts";
import { call, createKey, setUp, useAll } from "./work.ts";

const clients = await hasPostgresClients();
if (!clients) test.skip("not run: PostgreSQL as it was at a moment (pg_basebackup is not on the PATH)", () => {});

test.runIf(clients)(
  "PostgreSQL restored to a moment has all that was committed before it and nothing later",
  async () => {
    await using resources = new AsyncDisposableStack();
    const site = resources.use(await openSite());
    const cluster = resources.use(await startArchivedCluster());
    const { url: databaseUrl } = cluster;
    await site.migrate(databaseUrl);
    const first = { databaseUrl, nats: resources.use(await testNats()), redis: resources.use(await testRedis()) };
    const before = await site.start(first);
    resources.defer(() => before.stop());
    const setup = await setUp(before, site);
    await useAll(site, before, setup, "in-the-base-backup");
    await cluster.baseBackup();
    await useAll(site, before, setup, "in-the-log");
    const [revokedBefore, revokedAfter] = [await createKey(before), await createKey(before)];
    await before.manage("key_auth.v1.KeyService/RevokeKey", { keyId: revokedBefore.keyId });
    const moment = await cluster.now();

    // What the restore undoes, with the accident that is its reason.
    await before.manage("key_auth.v1.KeyService/RevokeKey", { keyId: revokedAfter.keyId });
    const createdAfter = await createKey(before);
    await useAll(site, before, setup, "too-late");
    await before.manage("tool_runner.v1.ToolService/DeleteTool", { name: "echo" });
    expect(await call(before, setup.secret, "gone")).toBe(403);
    await before.stop();

    await cluster.recoverTo(moment);
    await site.migrate(databaseUrl);
    // NATS and Redis are emptied, because what they have is newer.
    const after = resources.use(
      await site.start({ databaseUrl, nats: resources.use(await testNats()), redis: resources.use(await testRedis()) }),
    );
    await useAll(site, after, setup, "after");
    expect(await call(after, revokedBefore.secret, "x")).toBe(401);
    expect(await call(after, revokedAfter.secret, "valid-again")).toContain("valid-again");
    expect(await call(after, createdAfter.secret, "x")).toBe(401);
    const deliveries = (text: string) =>
      rowsOf(databaseUrl, `select from outbound_webhook.event where convert_from(body, 'utf8') like '%${text}-call%'`);
    expect([await deliveries("in-the-log"), await deliveries("too-late")]).toEqual([1, 0]);
  },
);
