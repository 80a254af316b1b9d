import { randomUUID } from "node:crypto";
import { migrate } from "@toolgate/postgres/migrate";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import { createSecretBox } from "@toolgate/secret-box/secret-box";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { type TestDatabase, testDatabase } from "@toolgate/testbed/servers/test-database";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { maintainPartitions } from "../../src/events/daily-partitions.ts";
import { NotStarted } from "../../src/execution/errors.ts";
import { createIdempotency, type Idempotency, type RanOutcome } from "../../src/execution/idempotency.ts";

const ended = (resultJson = '{"success":true}'): RanOutcome => ({
  executionId: "id",
  durationMs: 1,
  outcome: { case: "resultJson", value: Buffer.from(resultJson) },
});
const run = async () => ended();
const REPLAYED = { replayed: true, outcome: { case: "resultJson" } };
const UNKNOWN = { replayed: true, outcome: { case: "outcomeUnknown" } };

const secretBox = createSecretBox({ keys: [{ version: 1, key: Buffer.alloc(32, 7) }] });

describe("claims of idempotency keys", () => {
  let database: TestDatabase;
  let pool: Pool;
  let idempotency: Idempotency;
  beforeAll(async () => {
    database = await testDatabase();
    pool = createPool({ url: database.url, maxConnections: 4, applicationName: "test" });
    await migrate({ pool, ...migrationsOf("tool-runner") });
    await maintainPartitions(pool, new Date());
    idempotency = createIdempotency({ pool, secretBox, now: Date.now });
  });
  afterAll(async () => {
    await pool.end();
    await database[Symbol.asyncDispose]();
  });

  const newCall = () => ({
    idempotentCall: { keyId: "1", tool: "t", idempotencyKey: randomUUID() },
    body: Buffer.from("{}"),
    timeoutMs: 60_000,
  });
  const failing = (error: Error) => () => Promise.reject(error);

  it("[TOOL] a run that never started may be tried again under its key", async () => {
    const call = newCall();
    await expect(idempotency.once(call, failing(new NotStarted("no room")))).rejects.toThrow("no room");
    expect(await idempotency.once(call, run)).toEqual({ ...ended(), replayed: false });
  });

  it("[TOOL] a run that failed unexpectedly may have had effects and is not repeated", async () => {
    const call = newCall();
    await expect(idempotency.once(call, failing(new Error("unexpected")))).rejects.toThrow();
    expect(await idempotency.once(call, run)).toMatchObject(UNKNOWN);
  });

  it("[TOOL] a result is stored sealed and replayed as it was", async () => {
    const call = newCall();
    const resultJson = JSON.stringify({ iban: "DE02120300000000202051" });
    const first = await idempotency.once(call, async () => ended(resultJson));
    expect(await idempotency.once(call, run)).toEqual({ ...first, replayed: true });
    const { rows } = await pool.query(
      "select t::text as text, encode(t.sealed_result, 'escape') as bytes from tool_runner.idempotent_calls t where idempotency_key = $1",
      [call.idempotentCall.idempotencyKey],
    );
    expect(JSON.stringify(rows)).not.toContain("DE0212");
    expect(rows[0].bytes.length).toBeGreaterThan(resultJson.length);
  });

  it("[TOOL] once an API key has stored its bytes for the hour, further calls run once and cannot be replayed", async () => {
    let atMs = Date.now();
    const bounded = createIdempotency({ pool, secretBox, now: () => atMs });
    const keyId = randomUUID();
    const room = 150;
    const used = [keyId, new Date(atMs - (atMs % 3_600_000)), 128 * 1024 * 1024 - room];
    await pool.query("insert into tool_runner.idempotent_bytes (key_id, hour, bytes) values ($1, $2, $3)", used);
    const call = () => ({ ...newCall(), idempotentCall: { ...newCall().idempotentCall, keyId } });
    const calls = [call(), call(), call(), call()];
    const outcomes = async () =>
      (await Promise.all(calls.map((made) => bounded.once(made, run)))).map(({ outcome }) => outcome.case).sort();
    expect(await outcomes()).toEqual(["resultJson", "resultJson", "resultJson", "resultJson"]);
    expect(await outcomes()).toEqual(["outcomeUnknown", "resultJson", "resultJson", "resultJson"]);
    atMs += 3_600_000;
    const later = call();
    await bounded.once(later, run);
    expect(await bounded.once(later, run)).toMatchObject(REPLAYED);
  });
});
