import { earlyInMinute } from "@toolgate/testbed/early-in-minute";
import { eventually } from "@toolgate/testbed/eventually";
import { testRedis } from "@toolgate/testbed/servers/servers";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningKeyAuth, runKeyAuth } from "../running-key-auth.ts";

const MINUTE_START = Date.parse("2026-11-21T12:00:00Z");
/** Replicas whose clocks disagree with each other and with Redis. */
const CLOCKS_AHEAD_BY_MS = [-95_000, 40_000];

let keyAuth: RunningKeyAuth;
let counters: Redis;
beforeAll(async () => {
  const now = (replica: number) => Date.now() + (CLOCKS_AHEAD_BY_MS[replica] ?? 0);
  keyAuth = await runKeyAuth({ replicas: 2, now });
  counters = new Redis(keyAuth.servers.redisUrl);
});
afterAll(async () => {
  counters.disconnect();
  await keyAuth[Symbol.asyncDispose]();
});

const changeLimit = (keyId: string, limit: number) => keyAuth.keys().updateKey({ keyId, limit }, keyAuth.as("manager"));
const counterOf = (keyId: string, minute: number) => `toolgate:calls:${keyId}:${minute}`;

/** The minute that Redis' clock is in, with time left in it. */
async function currentMinute(): Promise<number> {
  await earlyInMinute();
  const [seconds] = await counters.time();
  return Math.floor(Number(seconds) / 60);
}

/** Simultaneous calls, each by the next replica. */
const callSimultaneously = async (secret: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, call) => keyAuth.verify(secret, { replica: call % 2 })));

test("[LIMIT-1] [LIMIT-10] [LIMIT-12] the limit is exact over replicas whose clocks differ, even for simultaneous calls", async () => {
  await currentMinute();
  const { secret } = await keyAuth.newKey({ limit: 25 });
  expect(await keyAuth.verify(secret)).toMatchObject({ admitted: true });
  const verdicts = await callSimultaneously(secret, 100);
  expect(verdicts.filter((verdict) => verdict?.admitted).length).toBe(24);
});

test("[LIMIT-2] [LIMIT-6] every replica counts in the minute of Redis' clock, and reports its end", async () => {
  const minute = await currentMinute();
  const { keyId, secret } = await keyAuth.newKey({ limit: 3 });
  // The minutes before and after it are used up.
  for (const other of [minute - 1, minute + 1]) await counters.set(counterOf(keyId, other), 3, "EX", 60);
  for (const replica of [0, 1]) {
    const counted = await keyAuth.verify(secret, { replica });
    const looked = await keyAuth.verify(secret, { replica, count: false });
    expect(counted).toMatchObject({ admitted: true, remaining: 2 - replica });
    for (const verdict of [counted, looked]) expect(Number(verdict?.resetAt)).toBe((minute + 1) * 60);
  }
  await keyAuth.verify(secret);
  const refused = await keyAuth.verify(secret, { replica: 1 });
  expect(refused?.admitted).toBe(false);
  expect(Number(refused?.resetAt)).toBe((minute + 1) * 60);
  expect(await counters.get(counterOf(keyId, minute))).toBe("3");
});

test("[LIMIT-5] [LIMIT-11] what remains falls with each call that counts, which refused ones do not, and a new limit applies at once", async () => {
  await currentMinute();
  const { keyId, secret } = await keyAuth.newKey({ limit: 2 });
  const remaining = async (options: { replica: number; count?: boolean }) => {
    const { limit, remaining: left, admitted } = (await keyAuth.verify(secret, options)) ?? {};
    return [limit, left, admitted];
  };
  expect(await remaining({ replica: 0 })).toEqual([2, 1, true]);
  for (const replica of [0, 1]) expect(await remaining({ replica, count: false })).toEqual([2, 1, true]);
  expect(await remaining({ replica: 1 })).toEqual([2, 0, true]);
  for (const replica of [0, 1]) expect(await remaining({ replica })).toEqual([2, 0, false]);
  await changeLimit(keyId, 5);
  const verdicts = await callSimultaneously(secret, 12);
  expect(verdicts.filter((verdict) => verdict?.admitted).length).toBe(3);
  await changeLimit(keyId, 4);
  expect(await remaining({ replica: 1, count: false })).toEqual([4, 0, true]);
});

test("[LIMIT-2] [LIMIT-6] without Redis, each process counts by its own clock, from second :00 to :59", async () => {
  let now = MINUTE_START + 30_000;
  await using redis = await testRedis();
  await using alone = await runKeyAuth({ redisUrl: redis.url, now: () => now });
  const { secret } = await alone.newKey({ limit: 2 });
  await redis.kill();
  const resetAt = BigInt(MINUTE_START / 1000 + 60);
  expect(await alone.verify(secret)).toMatchObject({ admitted: true, remaining: 1, resetAt });
  expect(await alone.verify(secret)).toMatchObject({ admitted: true, remaining: 0, resetAt });
  now = MINUTE_START + 59_999;
  expect(await alone.verify(secret)).toMatchObject({ admitted: false, resetAt });
  now = MINUTE_START + 60_000;
  expect(await alone.verify(secret)).toMatchObject({ admitted: true, remaining: 1, resetAt: resetAt + 60n });
});

/** A key is cached once Redis has decided on it: a stalled process decides without Redis, and caches nothing. */
const untilCached = (running: RunningKeyAuth, secret: string, replica: number) =>
  eventually(async () => ((await running.verify(secret, { replica }))?.workspaceEpoch ?? 0n) > 0n);

test("[KEY-21] [LIMIT-10] verifying a cached key takes one Redis command", async () => {
  // A clock that stands still, so that no reload falls due, and a Redis that nobody else uses.
  await using redis = await testRedis();
  await using alone = await runKeyAuth({ replicas: 2, redisUrl: redis.url, now: () => MINUTE_START });
  const { keyId, secret } = await alone.newKey({ limit: 1_000 });
  for (const replica of [0, 1]) await untilCached(alone, secret, replica);
  // Not `connectRedis`, whose commands fail after 2 s, so on a machine that stalls for that long.
  const client = new Redis(redis.url);
  await eventually(() => client.status === "ready");
  const monitor = await client.monitor();
  try {
    const seen: string[] = [];
    monitor.on("monitor", (_time, command: string[], source: string) => {
      if (source !== "lua") seen.push(command.join(" "));
    });
    for (let call = 0; call < 10; call += 1) await alone.verify(secret, { replica: call % 2 });
    await client.echo("the end");
    await eventually(() => seen.includes("echo the end"));
    expect(seen.filter((command) => command.startsWith("evalsha") && command.includes(keyId)).length).toBe(10);
    expect(seen).toHaveLength(10 + 1);
  } finally {
    monitor.disconnect();
    client.disconnect();
  }
});
