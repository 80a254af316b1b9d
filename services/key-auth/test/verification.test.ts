import { randomBytes, randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { KEEP_FOR_MS, RELOAD_AFTER_MS, RETRY_AFTER_MS } from "@toolgate/epoch/cache";
import { createCallCounter } from "@toolgate/epoch/call-counter";
import { createEpochs } from "@toolgate/epoch/epoch";
import { connectRedis, untilReady } from "@toolgate/epoch/redis";
import { UNKNOWN_FOR_MS } from "@toolgate/epoch/row-loader";
import { earlyInMinute } from "@toolgate/testbed/early-in-minute";
import { serversOfRun } from "@toolgate/testbed/servers-of-run";
import { expect, test } from "vitest";
import type { VerificationRow } from "../src/store/verification.ts";
import { createVerifiableKeys, isUsable } from "../src/verification/verifiable-keys.ts";

function newRow(tools: string[] = []): VerificationRow {
  return {
    secretHash: randomBytes(32),
    secretValidUntil: null,
    keyId: randomUUID(),
    keyName: "k",
    tools,
    limit: 10_000,
    allowedNetworks: [],
    expiresAt: null,
    revokedAt: null,
    workspaceId: randomUUID(),
    workspace: "w",
    workspaceLocked: false,
  };
}

/** A verifier on real epochs, with its own clock and rows; a test can stop Postgres. */
async function verifierRig({ rows = [newRow()], maxBytes }: { rows?: VerificationRow[]; maxBytes?: number } = {}) {
  const redis = connectRedis({ url: serversOfRun().redisUrl, name: "test", onError: () => {} });
  await untilReady(redis, 60_000);
  const row = rows[0] as VerificationRow;
  const state = { nowMs: 1_000_000, postgres: "up" as "up" | "down" | "silent", loads: 0 };
  const now = () => state.nowMs;
  const reconnects = new EventEmitter();
  const redisErrors: unknown[] = [];
  const queryRows = async (hashes: Buffer[]) => {
    state.loads += 1;
    if (state.postgres === "down") throw new Error("postgres is down");
    if (state.postgres === "silent") return new Promise<never>(() => {});
    const wanted = new Set(hashes.map((hash) => hash.toString("hex")));
    return rows.filter(({ secretHash }) => wanted.has(secretHash.toString("hex"))).map((found) => ({ ...found }));
  };
  const keys = createVerifiableKeys({
    query: queryRows,
    counter: createCallCounter(redis, { kind: "key", counters: "toolgate:calls" }),
    redis: reconnects,
    now,
    onRedisError: (error) => void redisErrors.push(error),
    ...(maxBytes !== undefined && { maxBytes }),
  });
  const verify = async (secretHash: Uint8Array = row.secretHash) => {
    const call = await keys.call(secretHash, (key) => ({ counts: isUsable(key, "", new Date(now())) }));
    return call?.judgement.counts ? call : undefined;
  };
  return {
    state,
    row,
    redis,
    redisErrors,
    epochs: createEpochs(redis),
    reconnect: () => reconnects.emit("ready"),
    stopRedis: () => redis.disconnect(),
    verify,
    async [Symbol.asyncDispose]() {
      redis.disconnect();
    },
  };
}

test("[KEY-21] without Postgres, a key whose epochs are current works for ten minutes, with a reload tried every second", async () => {
  await using rig = await verifierRig();
  const { state } = rig;
  expect(await rig.verify()).toMatchObject({ admitted: true, used: 1 });
  const loadedAt = state.nowMs;
  state.postgres = "down";
  state.nowMs = loadedAt + RELOAD_AFTER_MS + 1;
  const before = state.loads;
  const verdicts = await Promise.all(Array.from({ length: 20 }, () => rig.verify()));
  expect(verdicts.every((verdict) => verdict?.admitted)).toBe(true);
  expect(await rig.verify()).toMatchObject({ admitted: true });
  expect(state.loads).toBe(before + 1);
  state.nowMs += RETRY_AFTER_MS;
  expect(await rig.verify()).toMatchObject({ admitted: true });
  expect(state.loads).toBe(before + 2);
  state.nowMs = loadedAt + KEEP_FOR_MS + 1;
  await expect(rig.verify()).rejects.toThrow("down");
  state.postgres = "up";
  expect(await rig.verify()).toMatchObject({ admitted: true });
  expect(rig.redisErrors).toEqual([]);
});

test("[KEY-21] a Postgres that does not respond does not delay a key whose epochs are current for long", async () => {
  await using rig = await verifierRig();
  await rig.verify();
  rig.state.postgres = "silent";
  rig.state.nowMs += RELOAD_AFTER_MS + 1;
  expect(await rig.verify()).toMatchObject({ admitted: true });
});

test("[KEY-21] without Postgres, a key whose epoch has changed fails, even if its reload was due", async () => {
  await using rig = await verifierRig();
  await rig.verify();
  rig.state.postgres = "down";
  rig.state.nowMs += RELOAD_AFTER_MS + 1;
  expect(await rig.verify()).toMatchObject({ admitted: true });
  await rig.epochs.raise(`key:${rig.row.keyId}`);
  await expect(rig.verify()).rejects.toThrow("down");
  rig.state.postgres = "up";
  rig.row.revokedAt = new Date(0);
  expect(await rig.verify()).toBeUndefined();
});

test("[KEY-21] without Postgres, no cached key is used after a reconnect to Redis, whose epochs may be lower", async () => {
  await using rig = await verifierRig();
  await rig.verify();
  rig.state.postgres = "down";
  rig.reconnect();
  await expect(rig.verify()).rejects.toThrow("down");
});

test("[KEY-21] without Redis, each call reads the key from Postgres once, whether it is cached or not", async () => {
  const [cached, uncached] = [newRow(), newRow()];
  await using rig = await verifierRig({ rows: [cached, uncached] });
  expect(await rig.verify()).toMatchObject({ admitted: true });
  rig.stopRedis();
  for (const row of [cached, uncached]) {
    const before = rig.state.loads;
    for (let call = 0; call < 10; call += 1) expect(await rig.verify(row.secretHash)).toMatchObject({ admitted: true });
    expect(rig.state.loads).toBe(before + 10);
    row.revokedAt = new Date(0);
    expect(await rig.verify(row.secretHash)).toBeUndefined();
  }
  expect(rig.redisErrors).toHaveLength(22);
});

test("[KEY-21] callers share the reload of a key, which shows a change whose epoch was never raised", async () => {
  await using rig = await verifierRig();
  await rig.verify();
  const before = rig.state.loads;
  rig.state.nowMs += RELOAD_AFTER_MS + 1;
  rig.row.revokedAt = new Date(0);
  const verdicts = await Promise.all(Array.from({ length: 20 }, () => rig.verify()));
  expect(verdicts.filter(Boolean)).toEqual([]);
  expect(rig.state.loads).toBe(before + 1);
});

test("[KEY-21] a hash that belongs to no key is looked up once in two seconds", async () => {
  await using rig = await verifierRig();
  const unknown = randomBytes(32);
  for (let call = 0; call < 10; call += 1) expect(await rig.verify(unknown)).toBeUndefined();
  expect(rig.state.loads).toBe(1);
  rig.state.nowMs += UNKNOWN_FOR_MS;
  rig.row.secretHash = unknown;
  expect(await rig.verify(unknown)).toMatchObject({ admitted: true });
});

test("[KEY-21] the cache is bounded by the size of the keys: the keys unused for longest go first", async () => {
  const tools = Array.from({ length: 500 }, (_, n) => `tool_with_a_long_name_${n}`);
  const rows = Array.from({ length: 100 }, () => newRow(tools));
  await using rig = await verifierRig({ rows, maxBytes: 1024 * 1024 });
  for (const { secretHash } of rows) await rig.verify(secretHash);
  const loadsOf = async ({ secretHash }: VerificationRow) => {
    const before = rig.state.loads;
    expect(await rig.verify(secretHash)).toMatchObject({ admitted: true });
    return rig.state.loads - before;
  };
  for (const recent of rows.slice(-5)) expect(await loadsOf(recent)).toBe(0);
  for (const old of rows.slice(0, 50)) expect(await loadsOf(old)).toBeGreaterThan(0);
});

test("[KEY-21] [LIMIT-1] calls that are decided together are counted one by one, and one that Redis cannot count is decided alone", async () => {
  await earlyInMinute();
  const [limited, broken, other] = [newRow(), newRow(), newRow()];
  limited.limit = 3;
  await using rig = await verifierRig({ rows: [limited, broken, other] });
  for (const row of [limited, broken, other]) await rig.verify(row.secretHash);
  const [seconds] = await rig.redis.time();
  await rig.redis.set(`toolgate:calls:${broken.keyId}:${Math.floor(Number(seconds) / 60)}`, "not a number");
  const together = [limited, limited, broken, limited, other].map((row) => rig.verify(row.secretHash));
  const verdicts = await Promise.all(together);
  expect(verdicts.map((verdict) => [verdict?.admitted, verdict?.used])).toEqual([
    [true, 2],
    [true, 3],
    [true, 1],
    [false, 3],
    [true, 2],
  ]);
  expect(rig.redisErrors).toHaveLength(1);
});
