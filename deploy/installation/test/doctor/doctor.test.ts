import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { connectBus } from "@toolgate/event-bus/connect";
import { ensureStreams } from "@toolgate/event-bus/streams";
import { freePort } from "@toolgate/local-servers/ports";
import { PROGRAMS } from "@toolgate/local-servers/programs";
import { newServiceKey } from "@toolgate/service-host/identity/service-keys";
import { testNats } from "@toolgate/testbed/servers";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { secretsIn } from "../../src/doctor/installation.ts";
import { SUPPORTED } from "../../src/doctor/versions.ts";
import { change, DATABASE_FAULTS } from "./database-faults.ts";
import { type DoctorRig, startDoctorRig } from "./rig.ts";

const ADMIN = fileURLToPath(new URL("../../src/admin-main.ts", import.meta.url));

let rig: DoctorRig;
beforeAll(async () => {
  rig = await startDoctorRig();
});
afterAll(() => rig?.[Symbol.asyncDispose]());

/** The program itself. */
async function doctor(env: Record<string, string>): Promise<{ code: number; output: string }> {
  return promisify(execFile)(process.execPath, [ADMIN, "doctor"], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, output: stdout + stderr }),
  );
}

const problems = async (...args: Parameters<DoctorRig["examine"]>) =>
  (await rig.examine(...args)).map(({ check, problem }) => `${check}: ${problem}`);

test("a healthy installation has no problems, and the doctor ends with exit code 0", async () => {
  expect(await rig.examine()).toEqual([]);
  const LOGINS = await rig.folderOf(rig.logins());
  const { code, output } = await doctor({ ...rig.env, LOGINS });
  expect(output).toBe(
    "No problems found (checked: settings, servers, certificates, clocks, schema, permissions, streams, retention, data, processes).\n",
  );
  expect(code).toBe(0);
});

test("with a problem the exit code is 1, and the output has what to do and no secret", async () => {
  const logins = rig.logins();
  const wrong = { "key-auth": "DATABASE_URL", gateway: "NATS_URL", "inbound-hook": "REDIS_URL" };
  for (const [name, variable] of Object.entries(wrong)) {
    const own = logins[name] as Record<string, string>;
    own[variable] = (own[variable] ?? "").replace(/:([^:@/]+)@/, ":$1-wrong-password@");
  }
  const env = { ...rig.env, LOGINS: await rig.folderOf(logins), DATABASE_CONNECTIONS: "many" };
  const { code, output } = await doctor(env);
  expect(code).toBe(1);
  expect(output).toContain("settings: DATABASE_CONNECTIONS must be a whole number");
  expect(output).toContain("servers: key-auth cannot use PostgreSQL: password authentication failed");
  expect(output).toContain("servers: gateway cannot use NATS: ");
  expect(output).toContain("servers: inbound-hook cannot use Redis: ");
  expect(output).toMatch(/What to do: .*\n\n\d+ problems found\.\n$/);
  const secrets = [env, ...Object.values(logins)].flatMap(secretsIn).filter((secret) => secret !== "");
  expect(secrets.length).toBeGreaterThan(20);
  for (const secret of secrets) expect(output).not.toContain(secret);
});

test("settings that a service would refuse are named with the services", async () => {
  const env = { TURNS_PER_WORKER: "0", CHAT_FILES: "/nowhere/files", KEY_AUTH_URL: "" };
  expect((await problems({ env })).toSorted()).toEqual([
    expect.stringMatching(/^settings: KEY_AUTH_URL is missing \(for gateway, tool-runner, chat, inbound-hook, /),
    expect.stringMatching(/^settings: TURNS_PER_WORKER must be .* \(for chat\)$/),
    expect.stringMatching(/^settings: the folder of CHAT_FILES cannot be used from here: ENOENT/),
  ]);
});

test("a folder of logins that is missing is named", async () => {
  expect(await problems({ env: { LOGINS: "/nowhere/logins" } })).toEqual([
    expect.stringMatching(/^settings: the folder of LOGINS cannot be read: ENOENT/),
  ]);
});

test("a service whose key the others do not know is named", async () => {
  const logins = rig.logins();
  (logins.gateway as Record<string, string>).SERVICE_KEY = newServiceKey().serviceKey;
  const found = await problems({ logins });
  expect(found).toContain("settings: SERVICE_PUBLIC_KEYS of key-auth lacks the key of gateway, whose calls it refuses");
});

test("sealing keys that cannot open the database are named", async () => {
  const env = { SEALING_KEYS: `1:${Buffer.alloc(32, 7).toString("base64")}` };
  expect(await problems({ env })).toEqual(["data: SEALING_KEYS cannot open the secrets in this database"]);
});

test("a clock that differs is named: the databases' and each service's", async () => {
  const found = await problems({ aheadMs: 60_000 });
  for (const whose of ["PostgreSQL", "Redis", "key-auth at http", "the process at http"])
    expect(found.join("\n")).toMatch(new RegExp(`^clocks: the clock of ${whose}.* is \\d+ s behind`, "m"));
  expect(found.every((problem) => problem.startsWith("clocks: "))).toBe(true);
  expect((await problems({ aheadMs: -60_000 })).join("\n")).toMatch(/PostgreSQL is \d+ s ahead of/);
});

test("a process that does not run is named, wherever the settings name it", async () => {
  const [rpc, ops, sandbox, smtp] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const env = {
    CHAT_URL: `http://127.0.0.1:${rpc}`,
    OPS_URLS: `http://127.0.0.1:${ops}`,
    SANDBOX_URL: `http://127.0.0.1:${sandbox}`,
    SANDBOX_TOKEN: "a-token-of-tests-with-enough-characters",
    SMTP_URL: `smtp://user:a-password@127.0.0.1:${smtp}`,
    MAIL_FROM: "toolgate@example.test",
  };
  expect((await problems({ env })).toSorted()).toEqual([
    expect.stringMatching(`^processes: chat at http://127.0.0.1:${rpc} does not respond`),
    expect.stringMatching(`^processes: no process responds at http://127.0.0.1:${ops}`),
    expect.stringMatching(`^processes: the email server at 127.0.0.1:${smtp} cannot be reached`),
    expect.stringMatching(`^processes: the sandbox at 127.0.0.1:${sandbox} cannot be reached`),
  ]);
});

const urlOf = (service: string) => rig.logins()[service]?.DATABASE_URL ?? "";

test.each(DATABASE_FAULTS)("the doctor names %s", async (_, service, make, undo, named) => {
  await change(urlOf(service), make);
  const found = await problems();
  await change(urlOf(service), undo);
  expect(found).toEqual([expect.stringMatching(named)]);
});

test("the doctor names an index that is not finished, and a partition that should have been dropped", async () => {
  const url = urlOf("key-auth");
  await change(url, "create table key_auth.twice as select 1 as n from generate_series(1, 2)");
  const index = "create unique index concurrently twice_once on key_auth.twice (n)";
  await expect(change(url, index)).rejects.toThrow(/could not create unique index/);
  const day = "for values from ('2020-01-01') to ('2020-01-02')";
  await change(url, `create table key_auth.api_key_requests_20200101 partition of key_auth.api_key_requests ${day}`);
  const found = await problems();
  await change(url, "drop table key_auth.twice, key_auth.api_key_requests_20200101");
  expect(found).toEqual([
    "schema: the index key_auth.twice_once is not finished",
    "retention: key_auth.api_key_requests still has 2020-01-01, which the daily job of key-auth should have dropped",
  ]);
});

test("the doctor names tables that belong to somebody else, and a login that may do more than a service needs", async () => {
  const { pool, databaseUrl } = rig.toolgate;
  const { rows } = await pool.query("select current_user as admin");
  const { rows: owner } = await pool.query(
    "select relowner::regrole::text as role from pg_class where oid = 'chat.settings'::regclass",
  );
  await pool.query(`alter table chat.settings owner to ${rows[0].admin}`);
  expect(await problems()).toEqual([
    expect.stringMatching(/^permissions: 1 tables of chat do not belong to \w+, the first is chat\.settings$/),
  ]);
  await pool.query(`alter table chat.settings owner to ${owner[0].role}`);
  const logins = rig.logins();
  (logins.chat as Record<string, string>).DATABASE_URL = databaseUrl;
  expect(await problems({ logins })).toEqual([
    expect.stringMatching(/^permissions: chat logs in to PostgreSQL as \w+, who may do more than a service needs$/),
  ]);
});

test("the doctor names the rights that a user of NATS or Redis lacks, and those that it should not have", async () => {
  const own = rig.logins();
  const logins = rig.logins();
  const { nats, redis } = rig.toolgate;
  Object.assign(logins.gateway as object, { NATS_URL: own["outbound-webhook-worker"]?.NATS_URL });
  Object.assign(logins["inbound-hook"] as object, { REDIS_URL: own["tool-runner"]?.REDIS_URL });
  Object.assign(logins.chat as object, { NATS_URL: nats.url });
  Object.assign(logins["key-auth"] as object, { REDIS_URL: redis.url });
  expect(await problems({ logins })).toEqual(
    expect.arrayContaining([
      "permissions: gateway may not use records.usage in NATS",
      "permissions: gateway may not use $JS.API.STREAM.INFO.RECORDS in NATS",
      expect.stringMatching(
        /^permissions: inbound-hook may not use its keys toolgate:epoch:hook:\* in Redis: .*NOPERM|No permission/i,
      ),
      "permissions: chat may read all messages of NATS",
      "permissions: key-auth may use keys of Redis that are not its own",
    ]),
  );
});

test("the doctor names a stream that differs, and a Redis that drops keys", async () => {
  await using bus = await connectBus({ servers: rig.toolgate.nats.url, name: "test" });
  const { config } = await bus.jsm.streams.info("RECORDS");
  await bus.jsm.streams.update("RECORDS", { ...config, max_age: 3_600 * 1_000_000_000 });
  const redis = new Redis(rig.toolgate.redis.url);
  await redis.config("SET", "maxmemory", "100mb");
  await redis.config("SET", "maxmemory-policy", "allkeys-lru");
  const found = await problems();
  await bus.jsm.streams.update("RECORDS", config);
  await redis.config("SET", "maxmemory", "0");
  redis.disconnect();
  expect(found).toEqual([
    "servers: Redis drops keys when its memory is full (maxmemory-policy allkeys-lru), and limits count wrong then",
    "streams: the stream RECORDS has max_age 3600000000000 instead of 604800000000000",
  ]);
});

test("the doctor names a Redis that keeps nothing on disk, in production", async () => {
  const redis = new Redis(rig.toolgate.redis.url);
  const off = "servers: Redis keeps nothing on disk (appendonly is off): after a restart all limits begin again";
  const inProduction = { env: { NODE_ENV: "production" } };
  expect(await problems(inProduction)).not.toContain(off);
  await redis.config("SET", "appendonly", "no");
  const found = await problems(inProduction);
  const outside = await problems();
  await redis.config("SET", "appendonly", "yes");
  redis.disconnect();
  expect(found).toContain(off);
  expect(outside).toEqual([]);
});

test("the doctor names servers that are older than supported", async () => {
  const found = await problems({ supported: { PostgreSQL: "99.0", NATS: "99.1", Redis: "99.2" } });
  expect(found.toSorted()).toEqual([
    expect.stringMatching(/^servers: NATS is version \d\S*, and Toolgate needs 99\.1 or newer$/),
    expect.stringMatching(/^servers: PostgreSQL is version \d.*, and Toolgate needs 99\.0 or newer$/),
    expect.stringMatching(/^servers: Redis is version \d\S*, and Toolgate needs 99\.2 or newer$/),
  ]);
  const minimum = ({ major, minor }: { major: number; minor: number }) => `${major}.${minor}`;
  const { postgres, nats, redis } = PROGRAMS;
  expect(SUPPORTED).toEqual({
    PostgreSQL: minimum(postgres.minimum),
    NATS: minimum(nats.minimum),
    Redis: minimum(redis.minimum),
  });
});

test("the doctor names streams and consumers that do not exist or that nobody reads", async () => {
  await using empty = await testNats();
  const logins = rig.logins();
  for (const [name, variables] of Object.entries(logins)) variables.NATS_URL = empty.urls[name] ?? "";
  const durables = [
    "key-auth-usage",
    "key-auth-audit",
    "tool-runner-executions",
    "tool-runner-calls",
    "outbound-webhook-fan-out",
    "outbound-webhook-workers",
    "outbound-webhook-results",
  ];
  const without = await problems({ logins });
  expect(without.filter((problem) => problem.includes("the stream")).toSorted()).toEqual(
    ["ATTEMPTS", "CALLS", "EVENTS", "RECORDS"].map((name) => `streams: the stream ${name} does not exist`),
  );
  for (const durable of durables)
    expect(without).toContainEqual(
      expect.stringMatching(new RegExp(`^streams: the consumer ${durable} of \\w+ does not exist$`)),
    );
  await using bus = await connectBus({ servers: empty.url, name: "test" });
  await ensureStreams(bus);
  await bus.jsm.consumers.add("RECORDS", {
    durable_name: "key-auth-usage",
    filter_subject: "records.usage",
    ack_policy: "explicit",
  });
  await bus.js.publish("records.usage", "");
  const unread = await problems({ logins });
  expect(unread).toContain("streams: the consumer key-auth-usage of RECORDS is read by no process; 1 messages wait");
  const few = await problems({ logins, env: { NATS_STREAM_REPLICAS: "3" } });
  expect(few).toContain("settings: NATS_STREAM_REPLICAS is 3, but NATS has 1 server");
  for (const name of ["ATTEMPTS", "CALLS", "EVENTS", "RECORDS"])
    expect(few).toContain(`streams: the stream ${name} has 1 copy instead of 3`);
  // What the doctor tries out leaves nothing behind.
  expect((await bus.jsm.streams.info("RECORDS")).state.messages).toBe(1);
  expect((await bus.jsm.streams.info("EVENTS")).state.messages).toBe(0);
  expect((await bus.jsm.streams.info("ATTEMPTS")).state.messages).toBe(0);
});

test("the doctor names a process that is not ready, with its reason, and one whose clock differs", async () => {
  const late = new Date(Date.now() - 3_600_000).toUTCString();
  const server = createServer((_, response) => {
    response.setHeader("date", late);
    response.writeHead(503).end("not ready: the database is down\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const found = await problems({ env: { OPS_URLS: url } });
  server.close();
  server.closeAllConnections();
  expect(found).toEqual([
    expect.stringMatching(`^clocks: the clock of the process at ${url} is 3[56]\\d\\d s behind`),
    `processes: the process at ${url} is not ready: not ready: the database is down`,
  ]);
});
