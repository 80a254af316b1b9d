import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { connectBus } from "@toolgate/event-bus/connect";
import { freePort } from "@toolgate/local-servers/ports";
import { NO_ISOLATION } from "@toolgate/sandbox/isolation/detect";
import { startSandboxServer } from "@toolgate/sandbox/server";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
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
  const LOGINS = await rig.folderOf(rig.logins());
  expect(await doctor({ ...rig.env, LOGINS })).toEqual({
    code: 0,
    output: "No problems found (checked: settings, servers, schema, permissions, streams, data, processes).\n",
  });
});

test("with a problem the exit code is 1, and the output has what to do and no password", async () => {
  const logins = rig.logins();
  const wrong = { "key-auth": "DATABASE_URL", gateway: "NATS_URL", "inbound-hook": "REDIS_URL" };
  for (const [name, variable] of Object.entries(wrong)) {
    const own = logins[name] as Record<string, string>;
    own[variable] = (own[variable] ?? "").replace(/:([^:@/]+)@/, ":$1-wrong-password@");
  }
  const { code, output } = await doctor({
    ...rig.env,
    LOGINS: await rig.folderOf(logins),
    DATABASE_CONNECTIONS: "many",
  });
  expect(code).toBe(1);
  for (const problem of [
    "settings: DATABASE_CONNECTIONS must be a whole number",
    "servers: key-auth cannot use PostgreSQL: password authentication failed",
    "servers: gateway cannot use NATS: ",
    "servers: inbound-hook cannot use Redis: ",
  ])
    expect(output).toContain(problem);
  expect(output).toMatch(/What to do: .*\n\n\d+ problems found\.\n$/);
  const passwords = JSON.stringify(logins).matchAll(/:\/\/[^:@/]*:([^@/]+)@/g);
  for (const [, password = ""] of passwords) expect(output).not.toContain(password);
});

test("settings that a service would refuse, and a folder of logins that is missing, are named", async () => {
  expect((await problems({ env: { TURNS_PER_WORKER: "0", KEY_AUTH_URL: "" } })).toSorted()).toEqual([
    expect.stringMatching(/^settings: KEY_AUTH_URL is missing \(for gateway, tool-runner, chat, inbound-hook, /),
    expect.stringMatching(/^settings: TURNS_PER_WORKER must be .* \(for chat\)$/),
  ]);
  expect(await problems({ env: { LOGINS: "/nowhere/logins" } })).toEqual([
    expect.stringMatching(/^settings: the folder of LOGINS cannot be read: ENOENT/),
  ]);
});

test("what is wrong in the database is named: sealing keys, migrations, messages that nobody could process", async () => {
  const { pool } = rig.toolgate;
  await pool.query("insert into chat.migrations values (99, '0099_later.sql')");
  await pool.query(
    "insert into tool_runner.parked_message (parked_at, subject, reason, payload) values (now(), 'records.execution', 'bad', '')",
  );
  const found = await problems({ env: { SEALING_KEYS: `1:${Buffer.alloc(32, 7).toString("base64")}` } });
  await pool.query("delete from chat.migrations where number = 99");
  await pool.query("delete from tool_runner.parked_message");
  expect(found).toEqual([
    "schema: chat: this version does not know the migrations 0099_later.sql",
    expect.stringMatching(/^data: /),
    expect.stringMatching(/^data: /),
  ]);
  expect(found).toContain("data: SEALING_KEYS cannot open the secrets in this database");
  expect(found).toContain("data: 1 messages could not be processed and are in tool_runner.parked_message");
});

test("rights that a login lacks, or should not have, are named", async () => {
  const own = rig.logins();
  const logins = rig.logins();
  const { nats, databaseUrl } = rig.toolgate;
  Object.assign(logins.gateway as object, { NATS_URL: own["outbound-webhook-worker"]?.NATS_URL });
  Object.assign(logins["inbound-hook"] as object, { REDIS_URL: own["tool-runner"]?.REDIS_URL });
  Object.assign(logins.chat as object, { NATS_URL: nats.url, DATABASE_URL: databaseUrl });
  expect(await problems({ logins })).toEqual(
    expect.arrayContaining([
      "permissions: gateway may not use records.usage in NATS",
      expect.stringMatching(/^permissions: inbound-hook may not use its keys toolgate:epoch:hook:\* in Redis: /),
      "permissions: chat may read all messages of NATS",
      "permissions: chat logs in to PostgreSQL as a user who may do more than a service needs",
    ]),
  );
});

test("a stream that differs, and a Redis that drops keys or writes nothing to its disk, are named", async () => {
  await using bus = await connectBus({ servers: rig.toolgate.nats.url, name: "test" });
  const { config } = await bus.jsm.streams.info("RECORDS");
  await bus.jsm.streams.update("RECORDS", { ...config, max_age: 3_600 * 1_000_000_000 });
  const redis = new Redis(rig.toolgate.redis.url);
  await redis.config("SET", "maxmemory", "100mb");
  await redis.config("SET", "maxmemory-policy", "allkeys-lru");
  await redis.config("SET", "appendonly", "no");
  const found = await problems();
  await bus.jsm.streams.update("RECORDS", config);
  await redis.config("SET", "maxmemory", "0");
  await redis.config("SET", "appendonly", "yes");
  redis.disconnect();
  expect(found).toEqual([
    "servers: Redis keeps nothing on disk (appendonly is off): after a restart all limits begin again",
    "servers: Redis drops keys when its memory is full: maxmemory-policy is allkeys-lru, not noeviction",
    "streams: the stream RECORDS has max_age 3600000000000 instead of 604800000000000",
  ]);
});

test("a sandbox that is down, or does not know the token, is named", async () => {
  const token = "a-token-of-tests-with-enough-characters";
  const tokenHashes = [createHash("sha256").update(token).digest("hex")];
  await using sandbox = await startSandboxServer({ host: "127.0.0.1", port: 0, tokenHashes, isolation: NO_ISOLATION });
  const [known, down] = [sandbox.port, await freePort()].map((port) => `http://127.0.0.1:${port}`);
  expect(await problems({ env: { SANDBOX_URL: `${known}`, SANDBOX_TOKEN: token } })).toEqual([]);
  const other = { SANDBOX_URL: `${known},${down}`, SANDBOX_TOKEN: `another-${token}` };
  const found = await problems({ env: other });
  expect(found).toHaveLength(2);
  expect(found).toContainEqual(expect.stringMatching(`^processes: sandbox at ${known} does not accept SANDBOX_TOKEN`));
  expect(found).toContainEqual(
    expect.stringMatching(`^processes: sandbox at ${down} does not respond: .*ECONNREFUSED`),
  );
});

test("a process that does not run is named, wherever the settings name it", async () => {
  const [rpc, ops] = await Promise.all([freePort(), freePort()]);
  const env = { CHAT_URL: `http://127.0.0.1:${rpc}`, OPS_URLS: `http://127.0.0.1:${ops}` };
  expect((await problems({ env })).toSorted()).toEqual([
    expect.stringMatching(`^processes: chat at http://127.0.0.1:${rpc} does not respond`),
    expect.stringMatching(`^processes: the process at http://127.0.0.1:${ops} does not respond`),
  ]);
});
