import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createEpochs } from "@toolgate/epoch/epoch";
import { minuteWindow } from "@toolgate/epoch/minute-window";
import { connectRedis, untilReady } from "@toolgate/epoch/redis";
import { earlyInMinute } from "@toolgate/testbed/early-in-minute";
import { eventually } from "@toolgate/testbed/eventually";
import { testRedis } from "@toolgate/testbed/servers/servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningKeyAuth, runKeyAuth } from "../running-key-auth.ts";

let keyAuth: RunningKeyAuth;
beforeAll(async () => {
  keyAuth = await runKeyAuth({ replicas: 2 });
});
afterAll(() => keyAuth?.[Symbol.asyncDispose]());

test("[KEY-21] [ERR-7] after the response to a revocation no replica admits the key, in 4,000 interleaved calls", async () => {
  let accepted = 0;
  let calls = 0;
  for (let round = 0; round < 8; round += 1) {
    const { keyId, secret } = await keyAuth.newKey({ limit: 10_000 });
    for (const replica of [0, 1]) expect(await keyAuth.verify(secret, { replica })).toBeDefined();
    let revoked = false;
    let acceptedAfter = 0;
    const callers = [0, 1].flatMap((replica) =>
      Array.from({ length: 10 }, async () => {
        for (let call = 0; call < 25; call += 1) {
          const startedAfter = revoked;
          const verdict = await keyAuth.verify(secret, { replica });
          calls += 1;
          if (verdict) accepted += 1;
          if (verdict && startedAfter) acceptedAfter += 1;
        }
      }),
    );
    await keyAuth.keys(round % 2).revokeKey({ keyId }, keyAuth.as("manager"));
    revoked = true;
    for (const replica of [0, 1]) expect(await keyAuth.verify(secret, { replica })).toBeUndefined();
    await Promise.all(callers);
    expect(acceptedAfter).toBe(0);
  }
  expect(calls).toBe(4_000);
  // Without calls before and after the revocation the test would show nothing.
  expect(accepted).toBeGreaterThan(0);
  expect(accepted).toBeLessThan(calls);
});

test("[KEY-21] a revocation returns when any replica last accepted the key, ignoring refused calls", async () => {
  const who = keyAuth.as("manager");
  const { keyId, secret } = await keyAuth.newKey({ limit: 4, allowedNetworks: ["203.0.113.0/24"] });
  const call = (replica: number, clientIp = "203.0.113.1", count = true) =>
    keyAuth.verify(secret, { replica, clientIp, count });
  await call(0);
  await call(1);
  const before = Date.now();
  const { minute } = minuteWindow(before);
  expect(await call(0)).toMatchObject({ admitted: true });
  const after = Date.now();
  await eventually(() => Date.now() > after);
  await call(1, "198.51.100.1");
  await call(1, "203.0.113.1", false);
  // The next call is over the limit, unless the minute has just ended.
  await keyAuth.keys().updateKey({ keyId, limit: 1 }, who);
  const refused = await call(0);
  const { lastAcceptedAt } = await keyAuth.keys(1).revokeKey({ keyId }, who);
  expect(await call(0)).toBeUndefined();
  const told = lastAcceptedAt ? timestampDate(lastAcceptedAt).getTime() : Number.NaN;
  expect(told).toBeGreaterThanOrEqual(before);
  if (minuteWindow(Date.now()).minute === minute) {
    expect(refused).toMatchObject({ admitted: false });
    expect(told).toBeLessThanOrEqual(after);
  }
  const again = await keyAuth.keys(0).revokeKey({ keyId }, who);
  expect(again.lastAcceptedAt).toEqual(lastAcceptedAt);
});

test("[KEY-21] [KEY-9] a revocation that finds nothing in Redis returns the last admitted call of the log, or else the last use", async () => {
  const who = keyAuth.as("manager");
  const never = await keyAuth.newKey();
  const { keyId } = await keyAuth.newKey();
  const at = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000);
  const lastUse = at(1);
  await keyAuth.pool.query("update key_auth.keys set last_used_at = $2 where id = $1", [keyId, lastUse]);
  const tell = async (id: string) => {
    const { lastAcceptedAt } = await keyAuth.keys().revokeKey({ keyId: id }, who);
    return lastAcceptedAt && timestampDate(lastAcceptedAt);
  };
  expect(await tell(never.keyId)).toBeUndefined();
  expect(await tell(keyId)).toEqual(lastUse);
  const logged = at(2);
  for (const [time, status] of [
    [at(3), 200],
    [logged, 403],
    [lastUse, 429],
  ] as const) {
    await keyAuth.pool.query(
      `insert into key_auth.api_key_requests (id, key_id, tool, status, duration_ms, ip, at)
       values (gen_random_uuid(), $1, 'echo', $2, 1, '', $3)`,
      [keyId, status, time],
    );
  }
  expect(await tell(keyId)).toEqual(logged);
});

test("[KEY-21] a change that Redis did not take is announced once it does, although its repetition is refused", async () => {
  await using redis = await testRedis();
  await using keyAuth = await runKeyAuth({ redisUrl: redis.url });
  const admin = connectRedis({ url: redis.url, name: "admin", onError: () => {} });
  await using _ = { [Symbol.asyncDispose]: async () => admin.disconnect() };
  await untilReady(admin, 20_000);
  const { keyId, key } = await keyAuth.newKey({ limit: 3 });
  const epochs = createEpochs(admin);
  const before = await epochs.current(`key:${keyId}`);
  const change = { keyId, limit: 1, expectedVersion: key.version };
  // It takes no writes while it lacks a replica.
  await admin.config("SET", "min-replicas-to-write", 1);
  await expect(keyAuth.keys().updateKey(change, keyAuth.as("manager"))).rejects.toThrow("not yet propagated");
  await admin.config("SET", "min-replicas-to-write", 0);
  await expect(keyAuth.keys().updateKey(change, keyAuth.as("manager"))).rejects.toThrow("after you opened it");
  await eventually(async () => (await epochs.current(`key:${keyId}`)) > before);
});

test("[KEY-21] without Redis, active keys are admitted up to their limit; revoked ones are refused then, after a restart and after a wipe", async () => {
  await using redis = await testRedis();
  await using keyAuth = await runKeyAuth({ redisUrl: redis.url });
  const live = await keyAuth.newKey({ limit: 3 });
  const dead = await keyAuth.newKey();
  const revoke = ({ keyId }: { keyId: string }) => keyAuth.keys().revokeKey({ keyId }, keyAuth.as("manager"));
  expect(await keyAuth.verify(dead.secret)).toBeDefined();
  await revoke(dead);
  await redis.kill();
  expect(await keyAuth.verify(dead.secret)).toBeUndefined();
  const admitted = [];
  await earlyInMinute();
  for (let call = 0; call < 5; call += 1) admitted.push((await keyAuth.verify(live.secret))?.admitted);
  expect(admitted.filter(Boolean).length).toBe(3);
  // The RPC fails because the revocation could not be announced, although it is stored.
  await expect(revoke(live)).rejects.toThrow("not yet propagated");
  expect(await keyAuth.verify(live.secret)).toBeUndefined();
  await redis.restart();
  expect(await keyAuth.verify(dead.secret)).toBeUndefined();
  await eventually(() => revoke(live));
  expect(await keyAuth.verify(live.secret)).toBeUndefined();
  await redis.wipe();
  for (const { secret } of [live, dead]) expect(await keyAuth.verify(secret)).toBeUndefined();
});
