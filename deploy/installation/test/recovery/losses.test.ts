import { eventually } from "@toolgate/testbed/eventually";
import { type TestServer, testNats, testRedis } from "@toolgate/testbed/servers";
import { testDatabase } from "@toolgate/testbed/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeRetriesDue, untilRetryWaits } from "./retries.ts";
import { openSite, type RunningSite, type Site } from "./site.ts";
import { call, createKey, delivered, type Setup, setUp, useAll } from "./work.ts";

const PATIENCE = { deadlineMs: 60_000, everyMs: 250 };

describe("an installation whose servers lose their data while it runs", () => {
  const resources = new AsyncDisposableStack();
  let site: Site;
  let running: RunningSite;
  let setup: Setup;
  let servers: Record<"Redis" | "NATS", TestServer>;
  let databaseUrl: string;
  beforeAll(async () => {
    site = resources.use(await openSite());
    servers = { NATS: resources.use(await testNats()), Redis: resources.use(await testRedis()) };
    databaseUrl = resources.use(await testDatabase()).url;
    await site.migrate(databaseUrl);
    running = resources.use(await site.start({ databaseUrl, nats: servers.NATS, redis: servers.Redis }));
    setup = await setUp(running, site);
    await useAll(site, running, setup, "first");
  });
  afterAll(() => resources.disposeAsync());

  test.each([{ lost: ["Redis"] as const }, { lost: ["NATS"] as const }, { lost: ["Redis", "NATS"] as const }])(
    "after the loss of $lost all work goes on, revoked keys stay revoked, and no delivery is lost",
    async ({ lost }) => {
      const text = lost.join("-and-");
      const revoked = await createKey(running);
      expect(await call(running, revoked.secret, "once")).toContain("once");
      await running.manage("key_auth.v1.KeyService/RevokeKey", { keyId: revoked.keyId });
      site.receiver.behave(() => ({ status: 500 }));
      expect(await call(running, setup.secret, `${text}-refused`)).toContain(`${text}-refused`);
      await delivered(site, `${text}-refused`);
      await untilRetryWaits(databaseUrl);

      await Promise.all(lost.map((name) => servers[name].wipe()));
      site.receiver.behave(() => ({}));
      const seen = site.receiver.requests.length;
      // While the services connect again, calls may fail.
      await eventually(
        async () => expect(await call(running, setup.secret, `${text}-back`)).toContain("back"),
        PATIENCE,
      );
      await useAll(site, running, setup, text);
      expect(await call(running, revoked.secret, "again")).toBe(401);
      await makeRetriesDue(databaseUrl);
      await eventually(
        () => site.receiver.requests.slice(seen).some(({ body }) => body.includes(`${text}-refused`)) || false,
        PATIENCE,
      );
    },
  );
});
