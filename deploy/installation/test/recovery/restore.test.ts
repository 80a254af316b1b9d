import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "@toolgate/testbed/eventually";
import { testNats, testRedis } from "@toolgate/testbed/servers";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { testDatabase } from "@toolgate/testbed/test-database";
import { expect, test } from "vitest";
import { dumpTo, hasPostgresClients, restoreFrom, rowCounts } from "./dump.ts";
import { makeRetriesDue, untilRetryWaits } from "./retries.ts";
import { openSite } from "./site.ts";
import { ask, call, setUp, useAll } from "./work.ts";

const clients = await hasPostgresClients();
if (!clients) test.skip("not run: restoring a backup (pg_dump and pg_restore are not on the PATH)", () => {});

test.runIf(clients)("a dump restored into an empty installation has every row, and all work goes on", async () => {
  await using resources = new AsyncDisposableStack();
  const site = resources.use(await openSite());
  const backup = await temporaryFolder();

  // The first life of the installation, with a delivery that its receiver refuses.
  const first = { database: resources.use(await testDatabase()), nats: await testNats(), redis: await testRedis() };
  await site.migrate(first.database.url);
  const before = await site.start({ ...first, databaseUrl: first.database.url });
  resources.defer(() => before.stop());
  const setup = await setUp(before, site);
  await useAll(site, before, setup, "before");
  expect(await ask(before, site, "keep this", "the text of a file")).toContain("note.txt");
  site.receiver.behave(() => ({ status: 500 }));
  expect(await call(before, setup.secret, "undelivered")).toContain("undelivered");
  await untilRetryWaits(first.database.url);

  // The backup: database, keys and files. Then everything is lost.
  const counts = await dumpTo(join(backup, "toolgate.dump"), first.database.url);
  await cp(site.folder, join(backup, "folder"), { recursive: true });
  await before.stop();
  await Promise.all([first.nats[Symbol.asyncDispose](), first.redis[Symbol.asyncDispose]()]);
  await rm(site.folder, { recursive: true });

  // The second life: new servers, which are empty.
  const database = resources.use(await testDatabase());
  const nats = resources.use(await testNats());
  const redis = resources.use(await testRedis());
  await cp(join(backup, "folder"), site.folder, { recursive: true });
  await restoreFrom(join(backup, "toolgate.dump"), database.url);
  expect(await rowCounts(database.url)).toEqual(counts);
  await site.migrate(database.url);
  expect(await rowCounts(database.url)).toEqual(counts);
  await makeRetriesDue(database.url);
  site.receiver.behave(() => ({}));
  const seen = site.receiver.requests.length;
  const after = resources.use(await site.start({ databaseUrl: database.url, nats, redis }));

  const arrived = () => site.receiver.requests.slice(seen).filter(({ body }) => body.includes("undelivered"));
  await eventually(() => arrived().length > 0, { deadlineMs: 60_000 });
  await useAll(site, after, setup, "after");
  expect(await ask(after, site, "what was in it?")).toBeTypeOf("string");
  expect(new Set(arrived().map(({ headers }) => headers["x-service-delivery"])).size).toBe(1);
});
