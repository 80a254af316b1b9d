import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ReceivedRequest } from "@toolgate/testbed/behaviour";
import { eventually } from "@toolgate/testbed/eventually";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { expect, test } from "vitest";
import { makeRetriesDue } from "../load/unsettled.ts";
import { runToolgate } from "../running-toolgate.ts";
import { dumpTo, hasPostgresClients, restoreFrom, rowCounts } from "./dump.ts";
import { ask, setUp, useAll } from "./work.ts";

/** The number of a call with one event, whose delivery is refused. */
const UNDELIVERED = 150;
const isOfUndelivered = ({ body }: ReceivedRequest) => body.includes(`"n":${UNDELIVERED}`);

const clients = await hasPostgresClients();
if (!clients) test.skip("not run: restoring a backup (pg_dump and pg_restore are not on the PATH)", () => {});

test.runIf(clients)("a dump restored into an empty installation has every row, and all work goes on", async () => {
  const backup = await temporaryFolder();

  // The first life of the installation, with a delivery that its receiver refuses.
  await using before = await runToolgate("single", { alone: true });
  const { dataDir, pool, receiver } = before;
  const workspace = await setUp(before);
  await useAll(before, workspace, 100);
  expect(await ask(before, "keep this", "the text of a file")).toContain("note.txt");
  receiver.behave(() => ({ status: 500 }));
  expect((await before.call("emitter", workspace.key.secret, { n: UNDELIVERED })).status).toBe(200);
  const waiting = "select from outbound_webhook.queue_item where attempt = 2 and lease_until is null";
  await eventually(async () => (await pool.query(waiting)).rowCount === 1);
  const refusedOf = () => receiver.requests.findLast(isOfUndelivered);
  const delivery = refusedOf()?.headers["x-service-delivery"];

  // The backup: database, keys and files. Then everything is lost.
  const counts = await dumpTo(join(backup, "toolgate.dump"), before.databaseUrl);
  await cp(dataDir, join(backup, "folder"), { recursive: true });
  await before[Symbol.asyncDispose]();
  await rm(dataDir, { recursive: true });

  // The second life: new servers, which are empty.
  await using database = await testDatabase();
  const { url } = database;
  await cp(join(backup, "folder"), dataDir, { recursive: true });
  await restoreFrom(join(backup, "toolgate.dump"), url);
  expect(await rowCounts(url)).toEqual(counts);
  await using after = await runToolgate("single", { former: before, databaseUrl: url });
  const repeatedOf = () => after.receiver.requests.filter(isOfUndelivered);
  // An attempt that is made before the receiver listens again fails, and the next one waits.
  await eventually(
    async () => {
      await makeRetriesDue(after.pool);
      return repeatedOf().length > 0;
    },
    { everyMs: 500 },
  );
  expect(new Set(repeatedOf().map(({ headers }) => headers["x-service-delivery"]))).toEqual(new Set([delivery]));
  await useAll(after, workspace, 200);
  await ask(after, "what was in it?");
});
