import type { Socket } from "node:net";
import { eventually } from "@toolgate/testbed/eventually";
import { testRedis } from "@toolgate/testbed/servers/servers";
import type { Redis } from "ioredis";
import { expect, test } from "vitest";
import { createEpochs, EPOCH_LUA, epochKey, raiseWithRetries } from "../src/epoch.ts";
import { connectRedis, untilReady } from "../src/redis.ts";

const SCOPE = "key:1";

async function redisRig() {
  await using resources = new AsyncDisposableStack();
  const server = resources.use(await testRedis());
  const errors: Error[] = [];
  const connectAgain = async () => {
    const redis = connectRedis({ url: server.url, name: "test", onError: (error) => errors.push(error) });
    owned.defer(() => redis.disconnect());
    await untilReady(redis, 60_000);
    return redis;
  };
  const owned = resources.move();
  const redis = await connectAgain();
  return { server, redis, errors, connectAgain, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function epochOf(redis: Redis, scope: string): Promise<bigint> {
  const text = await redis.eval(`${EPOCH_LUA} return epoch_of(KEYS[1])`, 1, epochKey(scope));
  expect(text).toMatch(/^\d{16}$/);
  return BigInt(text as string);
}

test("a missing epoch is created when it is read, and stays the same", async () => {
  await using rig = await redisRig();
  const made = await epochOf(rig.redis, SCOPE);
  expect(await epochOf(rig.redis, SCOPE)).toBe(made);
  expect(await rig.redis.ttl(epochKey(SCOPE))).toBeGreaterThan(29 * 86_400);
});

test("each raise gives a newer epoch, also with many simultaneous raises on several connections", async () => {
  await using rig = await redisRig();
  const connections = [rig.redis, await rig.connectAgain(), await rig.connectAgain()];
  const seen: bigint[] = [];
  const lanes = connections.map(async (redis) => {
    const epochs = createEpochs(redis);
    for (let count = 0; count < 100; count += 1) {
      const before = await epochOf(redis, SCOPE);
      await epochs.raise(SCOPE);
      const after = await epochOf(redis, SCOPE);
      expect(after).toBeGreaterThan(before);
      seen.push(after);
    }
  });
  await Promise.all(lanes);
  const final = await epochOf(rig.redis, SCOPE);
  expect(seen.filter((epoch) => epoch > final)).toEqual([]);
  expect(seen).toContain(final);
});

test("one call raises several scopes, or none", async () => {
  await using rig = await redisRig();
  const before = [await epochOf(rig.redis, "a"), await epochOf(rig.redis, "b")];
  const untouched = await epochOf(rig.redis, "c");
  await createEpochs(rig.redis).raise("a", "b");
  await createEpochs(rig.redis).raise();
  expect(await epochOf(rig.redis, "a")).toBeGreaterThan(before[0] ?? 0n);
  expect(await epochOf(rig.redis, "b")).toBeGreaterThan(before[1] ?? 0n);
  expect(await epochOf(rig.redis, "c")).toBe(untouched);
});

test("an epoch grows even when the clock was set back", async () => {
  await using rig = await redisRig();
  const ahead = BigInt(Date.now()) * 1_000n + 3_600_000_000n;
  await rig.redis.set(epochKey(SCOPE), String(ahead));
  const epochs = createEpochs(rig.redis);
  await epochs.raise(SCOPE);
  expect(await epochOf(rig.redis, SCOPE)).toBe(ahead + 1n);
  await epochs.raise(SCOPE);
  expect(await epochOf(rig.redis, SCOPE)).toBe(ahead + 2n);
});

test("an epoch is newer after Redis is wiped, and the same after it is killed", async () => {
  await using rig = await redisRig();
  const epochs = createEpochs(rig.redis);
  await epochs.raise(SCOPE);
  const before = await epochOf(rig.redis, SCOPE);
  await rig.server.kill();
  await rig.server.restart();
  expect(await eventually(() => epochOf(rig.redis, SCOPE))).toBe(before);
  await rig.server.wipe();
  expect(await eventually(() => epochOf(rig.redis, SCOPE))).toBeGreaterThan(before);
});

test("a raise rejects soon while Redis is down or hangs, and works again afterwards", async () => {
  await using rig = await redisRig();
  const epochs = createEpochs(rig.redis);
  const before = await epochOf(rig.redis, SCOPE);
  process.kill(rig.server.pid, "SIGSTOP");
  await expect(epochs.raise(SCOPE)).rejects.toThrow();
  process.kill(rig.server.pid, "SIGCONT");
  await rig.server.kill();
  await eventually(() => rig.redis.status !== "ready");
  await expect(epochs.raise(SCOPE)).rejects.toThrow();
  await rig.server.restart();
  await eventually(() => epochs.raise(SCOPE));
  expect(await epochOf(rig.redis, SCOPE)).toBeGreaterThan(before);
});

test("waiting for a Redis that stays down ends at the deadline and leaves no listener", async () => {
  await using rig = await redisRig();
  await rig.server.kill();
  await eventually(() => rig.redis.status !== "ready");
  const { host } = new URL(rig.server.url);
  await expect(untilReady(rig.redis, 1_000)).rejects.toThrow(`Redis at ${host} is not reachable: connect ECONNREFUSED`);
  expect(rig.redis.listenerCount("ready")).toBe(0);
  await rig.server.restart();
  await untilReady(rig.redis, 60_000);
  rig.redis.disconnect();
  await eventually(() => rig.redis.status === "end");
  await expect(untilReady(rig.redis, 60_000)).rejects.toThrow("not reachable");
  expect(rig.errors.length).toBeGreaterThan(0);
});

test("a socket that reports a second error, as after a refused certificate, does not end the process", async () => {
  await using rig = await redisRig();
  const { stream } = rig.redis as unknown as { stream: Socket };
  const [first, second] = [new Error("first"), new Error("second")];
  stream.emit("error", first);
  expect(() => stream.emit("error", second)).not.toThrow();
  expect(rig.errors).toEqual([first]);
});

test("a raise with retries resolves while Redis is down, and happens once Redis is back", async () => {
  await using rig = await redisRig();
  const before = await epochOf(rig.redis, SCOPE);
  await rig.server.kill();
  await raiseWithRetries(createEpochs(rig.redis), SCOPE);
  await rig.server.restart();
  await eventually(async () => (await epochOf(rig.redis, SCOPE)) > before);
});
