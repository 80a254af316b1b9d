import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { createEpochCache, KEEP_FOR_MS, RELOAD_AFTER_MS, RETRY_AFTER_MS } from "../src/cache.ts";

function cacheRig() {
  const state = { nowMs: 0, loads: 0, down: false, hanging: false };
  const redis = new EventEmitter();
  const cache = createEpochCache<bigint, number>({
    name: "test",
    redis,
    now: () => state.nowMs,
    isCurrent: (cached, wanted) => cached >= wanted,
    maxBytes: 100_000,
    sizeOf: () => 8,
  });
  const load = async () => {
    state.loads += 1;
    if (state.hanging) await new Promise(() => {});
    if (state.down) throw new Error("postgres is down");
    return state.loads;
  };
  return { state, redis, cache, get: (epoch: bigint | undefined) => cache.get("w", epoch, load) };
}

test("[TOOL] a value that cannot be loaded again is used for ten minutes, with a new attempt every second", async () => {
  const { state, get } = cacheRig();
  expect(await get(1n)).toBe(1);
  state.down = true;
  state.nowMs = RELOAD_AFTER_MS + 1;
  expect(await Promise.all([get(1n), get(1n), get(1n)])).toEqual([1, 1, 1]);
  expect(await get(1n)).toBe(1);
  expect(state.loads).toBe(2);
  state.nowMs += RETRY_AFTER_MS;
  expect(await get(1n)).toBe(1);
  expect(state.loads).toBe(3);
  state.nowMs = KEEP_FOR_MS + 1;
  await expect(get(1n)).rejects.toThrow("down");
  state.down = false;
  expect(await get(1n)).toBe(state.loads);
});

test("[TOOL] a value under an older epoch is never used, even while Postgres is down", async () => {
  const { state, get } = cacheRig();
  await get(1n);
  state.down = true;
  await expect(get(2n)).rejects.toThrow("down");
  await expect(get(2n)).rejects.toThrow("down");
  state.down = false;
  expect(await get(2n)).toBe(state.loads);
});

test("[TOOL] a reconnect to Redis forgets every value, also those whose load is under way", async () => {
  const { state, redis, cache, get } = cacheRig();
  await get(1n);
  state.nowMs = RELOAD_AFTER_MS + 1;
  const reloading = get(1n);
  redis.emit("ready");
  await reloading;
  expect(cache.peek("w")).toBeUndefined();
  await get(1n);
  state.down = true;
  state.nowMs += RELOAD_AFTER_MS + 1;
  const failing = get(1n);
  redis.emit("ready");
  await expect(failing).rejects.toThrow("down");
  await expect(get(1n)).rejects.toThrow("down");
});

test("[TOOL] simultaneous callers share one load; a newer or unknown epoch starts a new one without waiting", async () => {
  const { state, get } = cacheRig();
  expect(await Promise.all([get(1n), get(1n), get(1n)])).toEqual([1, 1, 1]);
  state.nowMs = RELOAD_AFTER_MS + 1;
  expect(await Promise.all([get(1n), get(1n)])).toEqual([2, 2]);
  expect(await get(1n)).toBe(2);
  expect(await get(2n)).toBe(3);
  expect(await get(1n)).toBe(3);
  expect(await get(undefined)).toBe(4);
  expect(await get(2n)).toBe(3);
});

test("[TOOL] a load under an older epoch that ends later does not replace the newer value", async () => {
  const { cache } = cacheRig();
  const old = Promise.withResolvers<number>();
  const slow = cache.get("w", 1n, () => old.promise);
  expect(await cache.get("w", 2n, async () => 22)).toBe(22);
  old.resolve(11);
  expect(await slow).toBe(11);
  expect(cache.peek("w")).toEqual({ value: 22, epoch: 2n });
});

test("[TOOL] a reload that fails does not use a value that was loaded meanwhile under an older epoch", async () => {
  const { state, redis, cache, get } = cacheRig();
  await get(2n);
  state.nowMs = RELOAD_AFTER_MS + 1;
  const reload = Promise.withResolvers<number>();
  const reloading = cache.get("w", 2n, () => reload.promise);
  redis.emit("ready");
  await get(1n);
  expect(cache.peek("w")?.epoch).toBe(1n);
  reload.reject(new Error("postgres is down"));
  await expect(reloading).rejects.toThrow("down");
});

test("[TOOL] the age of a value counts from the start of its load", async () => {
  const { state, cache } = cacheRig();
  const slow = Promise.withResolvers<number>();
  const loading = cache.get("w", 1n, () => slow.promise);
  state.nowMs = RELOAD_AFTER_MS;
  slow.resolve(1);
  await loading;
  expect(cache.peek("w")).toEqual({ value: 1, epoch: 1n });
  state.nowMs += 1;
  expect(cache.peek("w")).toEqual({ value: 1, epoch: undefined });
});

test("[TOOL] a caller that could use the cached value waits a second for its reload, not longer", async () => {
  const { state, get } = cacheRig();
  await get(1n);
  state.hanging = true;
  state.nowMs = RELOAD_AFTER_MS + 1;
  expect(await get(1n)).toBe(1);
  expect(state.loads).toBe(2);
});

test("peeking at the cached value returns its epoch until a reload is due, and loads nothing", async () => {
  const { state, cache, get } = cacheRig();
  expect(cache.peek("w")).toBeUndefined();
  await get(5n);
  expect(cache.peek("w")).toEqual({ value: 1, epoch: 5n });
  state.nowMs = RELOAD_AFTER_MS + 1;
  expect(cache.peek("w")).toEqual({ value: 1, epoch: undefined });
  state.down = true;
  await get(5n);
  expect(cache.peek("w")).toEqual({ value: 1, epoch: 5n });
  expect(state.loads).toBe(2);
});

test("[TOOL] the cache is bounded by the size of its values; one that is too large is not cached", async () => {
  const loads: string[] = [];
  const cache = createEpochCache<bigint, string>({
    name: "test",
    redis: new EventEmitter(),
    now: () => 0,
    isCurrent: (cached, wanted) => cached >= wanted,
    maxBytes: 10_000,
    sizeOf: (text) => text.length,
  });
  const get = (key: string, chars: number) =>
    cache.get(key, 1n, async () => {
      loads.push(key);
      return "x".repeat(chars);
    });
  for (const key of ["a", "b", "c"]) await get(key, 4_000);
  await get("c", 4_000);
  expect(loads).toEqual(["a", "b", "c"]);
  await get("a", 4_000);
  expect(loads).toEqual(["a", "b", "c", "a"]);
  for (const _ of [1, 2]) expect(await get("d", 20_000)).toHaveLength(20_000);
  expect(loads.slice(4)).toEqual(["d", "d"]);
});
