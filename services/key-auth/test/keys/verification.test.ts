import { randomBytes, randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { setImmediate } from "node:timers/promises";
import { RELOAD_AFTER_MS } from "@toolgate/epoch/cache";
import { createCallCounter } from "@toolgate/epoch/call-counter";
import { createEpochs } from "@toolgate/epoch/epoch";
import { connectRedis, untilReady } from "@toolgate/epoch/redis";
import { UNKNOWN_FOR_MS } from "@toolgate/epoch/row-loader";
import { earlyInMinute } from "@toolgate/testbed/early-in-minute";
import { serversOfRun } from "@toolgate/testbed/servers/servers-of-run";
import { expect, test } from "vitest";
import type { VerificationRow } from "../../src/store/verification.ts";
import { createVerifiableKeys, isUsable } from "../../src/verification/verifiable-keys.ts";

interface TestRow extends VerificationRow {
  secretHash: Buffer;
}

function newRow(tools: string[] = []): TestRow {
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
async function verifierRig(rows: TestRow[] = [newRow()]) {
  const redis = connectRedis({ url: serversOfRun().redisUrl, name: "test", onError: () => {} });
  await untilReady(redis, 60_000);
  const row = rows[0] as TestRow;
  const state = { nowMs: 1_000_000, isPostgresDown: false, loads: 0, loading: 0, mostLoading: 0 };
  const now = () => state.nowMs;
  const redisErrors: unknown[] = [];
  const find = async (hash: Buffer) => {
    state.loads += 1;
    state.loading += 1;
    state.mostLoading = Math.max(state.mostLoading, state.loading);
    await setImmediate();
    state.loading -= 1;
    if (state.isPostgresDown) throw new Error("postgres is down");
    const found = rows.find(({ secretHash }) => secretHash.equals(hash));
    return found && { ...found };
  };
  const keys = createVerifiableKeys({
    find,
    counter: createCallCounter(redis, { kind: "key", counters: "toolgate:calls" }),
    redis: new EventEmitter(),
    now,
    onRedisError: (error) => void redisErrors.push(error),
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
    verify,
    async [Symbol.asyncDispose]() {
      redis.disconnect();
    },
  };
}

test("[KEY-21] without Postgres, a key whose epochs are current works, and one whose epoch has changed fails, even if its reload was due", async () => {
  await using rig = await verifierRig();
  await rig.verify();
  rig.state.isPostgresDown = true;
  rig.state.nowMs += RELOAD_AFTER_MS + 1;
  expect(await rig.verify()).toMatchObject({ admitted: true });
  await rig.epochs.raise(`key:${rig.row.keyId}`);
  await expect(rig.verify()).rejects.toThrow("down");
  rig.state.isPostgresDown = false;
  rig.row.revokedAt = new Date(0);
  expect(await rig.verify()).toBeUndefined();
});

test("[KEY-21] without Redis, each call reads the key from Postgres once, whether it is cached or not", async () => {
  const [cached, uncached] = [newRow(), newRow()];
  await using rig = await verifierRig([cached, uncached]);
  expect(await rig.verify()).toMatchObject({ admitted: true });
  rig.redis.disconnect();
  for (const row of [cached, uncached]) {
    const before = rig.state.loads;
    for (let call = 0; call < 10; call += 1) expect(await rig.verify(row.secretHash)).toMatchObject({ admitted: true });
    expect(rig.state.loads).toBe(before + 10);
    row.revokedAt = new Date(0);
    expect(await rig.verify(row.secretHash)).toBeUndefined();
  }
  expect(rig.redisErrors).toHaveLength(22);
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

test("[KEY-21] many calls with a secret that does not exist make four queries at a time, and then none", async () => {
  await using rig = await verifierRig();
  const unknown = randomBytes(32);
  await Promise.all(Array.from({ length: 40 }, () => rig.verify(unknown)));
  expect(rig.state).toMatchObject({ mostLoading: 4, loads: 4 });
});

test("[KEY-21] [LIMIT-1] calls that are decided together are counted one by one, and one that Redis cannot count is decided alone", async () => {
  await earlyInMinute();
  const [limited, broken, other] = [newRow(), newRow(), newRow()];
  limited.limit = 3;
  await using rig = await verifierRig([limited, broken, other]);
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
