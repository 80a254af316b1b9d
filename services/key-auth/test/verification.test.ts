import { randomBytes, randomUUID } from "node:crypto";
import { createEpochs } from "@toolgate/epoch/epoch";
import { connectRedis, untilReady } from "@toolgate/epoch/redis";
import { eventually } from "@toolgate/testbed/eventually";
import { serversOfRun } from "@toolgate/testbed/servers-of-run";
import { expect, test } from "vitest";
import type { VerificationRow } from "../src/store/verification.ts";
import { KEEP_FOR_MS, RELOAD_AFTER_MS, RETRY_AFTER_MS } from "../src/verification/cached-keys.ts";
import { createRedisGate } from "../src/verification/gate.ts";
import { createLocalCounter } from "../src/verification/local-counter.ts";
import { createRowLoader, MAX_QUERIES_IN_FLIGHT } from "../src/verification/row-loader.ts";
import { UNKNOWN_FOR_MS } from "../src/verification/unknown-hashes.ts";
import { createVerifier } from "../src/verification/verifier.ts";

/** A verifier on real epochs, a clock of its own, and rows that a test can take away as Postgres would. */
async function verifierRig() {
  const redis = connectRedis({ url: serversOfRun().redisUrl, name: "test", onError: () => {} });
  await untilReady(redis, 5_000);
  const row: VerificationRow = {
    secretHash: randomBytes(32),
    secretValidUntil: null,
    keyId: randomUUID(),
    keyName: "k",
    tools: [],
    limit: 10_000,
    allowedNetworks: [],
    expiresAt: null,
    revokedAt: null,
    workspaceId: randomUUID(),
    workspace: "w",
    workspaceLocked: false,
  };
  const state = { nowMs: 1_000_000, postgres: "here" as "here" | "away" | "silent", loads: 0 };
  const gateErrors: unknown[] = [];
  const verifier = createVerifier({
    gate: createRedisGate(redis),
    load: async (secretHash) => {
      state.loads += 1;
      if (state.postgres === "away") throw new Error("postgres is away");
      if (state.postgres === "silent") return new Promise(() => {});
      return row.secretHash.equals(secretHash) ? { ...row } : undefined;
    },
    localCounter: createLocalCounter(),
    now: () => state.nowMs,
    onGateError: (error) => gateErrors.push(error),
  });
  return {
    state,
    row,
    verifier,
    gateErrors,
    epochs: createEpochs(redis),
    verify: (secretHash: Uint8Array = row.secretHash) => verifier.verify(secretHash, { count: true, clientIp: "" }),
    async [Symbol.asyncDispose]() {
      redis.disconnect();
    },
  };
}

test("[KEY-21] without Postgres a key that Redis confirms goes on for ten minutes, tried again once a second", async () => {
  await using rig = await verifierRig();
  const { state } = rig;
  expect(await rig.verify()).toMatchObject({ admitted: true, used: 1 });
  const loadedAt = state.nowMs;
  state.postgres = "away";
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
  await expect(rig.verify()).rejects.toThrow("away");
  state.postgres = "here";
  expect(await rig.verify()).toMatchObject({ admitted: true });
  expect(rig.gateErrors).toEqual([]);
});

test("[KEY-21] a Postgres that does not answer holds no key up that Redis confirms", async () => {
  await using rig = await verifierRig();
  await rig.verify();
  rig.state.postgres = "silent";
  rig.state.nowMs += RELOAD_AFTER_MS + 1;
  expect(await rig.verify()).toMatchObject({ admitted: true });
});

test("[KEY-21] without Postgres a key whose epoch has moved fails, aged or not", async () => {
  await using rig = await verifierRig();
  await rig.verify();
  rig.state.postgres = "away";
  rig.state.nowMs += RELOAD_AFTER_MS + 1;
  expect(await rig.verify()).toMatchObject({ admitted: true });
  await rig.epochs.raise(`key:${rig.row.keyId}`);
  await expect(rig.verify()).rejects.toThrow("away");
  rig.state.postgres = "here";
  rig.row.revokedAt = new Date(0);
  expect(await rig.verify()).toBeUndefined();
});

test("[KEY-21] without Postgres nothing is confirmed after the epochs may have gone back", async () => {
  await using rig = await verifierRig();
  await rig.verify();
  rig.state.postgres = "away";
  rig.verifier.forget();
  await expect(rig.verify()).rejects.toThrow("away");
});

test("[KEY-21] an aged key is loaded once, by all its callers together, and shows what was never announced", async () => {
  await using rig = await verifierRig();
  await rig.verify();
  const before = rig.state.loads;
  rig.state.nowMs += RELOAD_AFTER_MS + 1;
  rig.row.revokedAt = new Date(0);
  const verdicts = await Promise.all(Array.from({ length: 20 }, () => rig.verify()));
  expect(verdicts.filter(Boolean)).toEqual([]);
  expect(rig.state.loads).toBe(before + 1);
});

test("[KEY-21] a hash that no key has is looked up once in two seconds", async () => {
  await using rig = await verifierRig();
  const unknown = randomBytes(32);
  for (let call = 0; call < 10; call += 1) expect(await rig.verify(unknown)).toBeUndefined();
  expect(rig.state.loads).toBe(1);
  rig.state.nowMs += UNKNOWN_FOR_MS;
  rig.row.secretHash = unknown;
  expect(await rig.verify(unknown)).toMatchObject({ admitted: true });
});

test("[KEY-21] look-ups have at most four queries under way; what comes meanwhile shares the next", async () => {
  const queries: { size: number; answer: (rows: VerificationRow[]) => void }[] = [];
  const load = createRowLoader(
    (hashes) => new Promise((resolve) => void queries.push({ size: hashes.length, answer: resolve })),
  );
  const looks: Promise<unknown>[] = [];
  for (let query = 1; query <= MAX_QUERIES_IN_FLIGHT; query += 1) {
    looks.push(load(randomBytes(32)));
    await eventually(() => queries.length === query);
  }
  for (let tick = 0; tick < 10; tick += 1) {
    looks.push(load(randomBytes(32)));
    await new Promise(setImmediate);
  }
  expect(queries.length).toBe(MAX_QUERIES_IN_FLIGHT);
  queries[0]?.answer([]);
  await eventually(() => queries.length > MAX_QUERIES_IN_FLIGHT);
  expect(queries.map(({ size }) => size)).toEqual([1, 1, 1, 1, 10]);
  for (const { answer } of queries) answer([]);
  expect(new Set(await Promise.all(looks))).toEqual(new Set([undefined]));
});
