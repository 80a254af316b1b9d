import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort, openPorts } from "@toolgate/local-servers/ports";
import { createPool } from "@toolgate/postgres/pool";
import { testNats, testRedis } from "@toolgate/testbed/servers/servers";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startReceiver } from "../src/demo/receiver.ts";
import { seedDemo } from "../src/demo/seed.ts";
import { startTopology } from "../src/topology.ts";

async function installation() {
  await using resources = new AsyncDisposableStack();
  const dataDir = await temporaryFolder();
  const [database, nats, redis] = await Promise.all([testDatabase(), testNats(), testRedis()]);
  for (const resource of [database, nats, redis]) resources.use(resource);
  const receiver = resources.use(
    await startReceiver({ dataDir, ports: openPorts(join(dataDir, "ports.json")), log() {}, now: () => new Date() }),
  );
  const port = await freePort();
  const urls = { databaseUrl: database.url, natsUrl: nats.url, redisUrl: redis.url };
  const settings = {
    ...urls,
    port,
    dataDir,
    allowedTargets: [new URL(receiver.url).host],
    targetCaFile: receiver.caFile,
    log() {},
  };
  const topology = await startTopology("single", settings);
  resources.defer(() => topology.stop());
  const pool = resources.adopt(createPool({ url: database.url, maxConnections: 1, applicationName: "test" }), (owned) =>
    owned.end(),
  );
  const hashes = async () => (await pool.query("select password_hash from key_auth.users order by id")).rows;
  const seed = { baseUrl: topology.baseUrl, databaseUrl: database.url, dataDir, receiverUrl: receiver.url };
  const owned = resources.move();
  return {
    settings,
    seed,
    pool,
    hashes,
    file: join(dataDir, "demo.json"),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

let running: Awaited<ReturnType<typeof installation>>;
beforeAll(async () => {
  running = await installation();
});
afterAll(() => running?.[Symbol.asyncDispose]());

test("another data folder does not take over the installation of a database", async () => {
  const { seed, settings, hashes, pool } = running;
  await seedDemo(seed);
  const secrets = async () => [await hashes(), (await pool.query("select kid from key_auth.signing_keys")).rows];
  const before = await secrets();
  const dataDir = await temporaryFolder();
  const port = await freePort();
  await expect(startTopology("single", { ...settings, dataDir, port })).rejects.toThrow(
    `the database contains an installation whose secrets ${dataDir} cannot open: choose the data folder`,
  );
  expect(await secrets()).toEqual(before);
});

test("the demo keeps the password of its administrator, whatever happens to it", async () => {
  const { seed, pool, hashes, file } = running;
  const hooks = async () => (await pool.query("select from inbound_hook.hook where deleted_at is null")).rowCount;
  const made = await seedDemo(seed);
  expect(await seedDemo(seed)).toEqual(made);
  const before = await hashes();

  // The file that an interrupted first start leaves.
  await writeFile(file, JSON.stringify({ workspace: made.workspace, admin: made.admin }));
  const resumed = await seedDemo(seed);
  const hook = { ...made.hook, path: expect.stringMatching(/hk_/), secret: expect.stringMatching(/^whsec_/) };
  expect(resumed).toEqual({ ...made, apiKey: expect.stringMatching(/^svc_/), hook });
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual(resumed);

  expect(await seedDemo(seed)).toEqual(resumed);
  expect(await hooks()).toBe(1);
  expect((await pool.query("select name, version from chat.assistant")).rows).toEqual([
    { name: "assistant", version: 1 },
  ]);

  // The file is lost.
  await rm(file);
  await expect(seedDemo(seed)).rejects.toThrow(/^the database has a user admin@demo.example already, whose password/);
  expect(await hashes()).toEqual(before);

  // Its owner has changed it.
  await writeFile(file, JSON.stringify(resumed));
  await pool.query("update key_auth.users set password_hash = 'other'");
  expect((await seedDemo(seed)).admin.password).toBe("(changed since)");
  expect(await hashes()).toEqual([{ password_hash: "other" }]);
});
