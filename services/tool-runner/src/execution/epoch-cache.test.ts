import { expect, test } from "vitest";
import { createEpochCache, KEEP_FOR_MS, RELOAD_AFTER_MS, RETRY_AFTER_MS } from "./epoch-cache.ts";

function cacheRig() {
  const state = { nowMs: 0, loads: 0, away: false };
  const cache = createEpochCache<number>(10, () => state.nowMs, { maxBytes: 100_000, sizeOf: () => 8 });
  const load = async () => {
    state.loads += 1;
    if (state.away) throw new Error("postgres is away");
    return state.loads;
  };
  return { state, cache, get: (epoch: bigint) => cache.get("w", epoch, load) };
}

test("[TOOL] a value that cannot be loaded again is kept for ten minutes, tried again once a second", async () => {
  const { state, get } = cacheRig();
  expect(await get(1n)).toBe(1);
  state.away = true;
  state.nowMs = RELOAD_AFTER_MS + 1;
  expect(await Promise.all([get(1n), get(1n), get(1n)])).toEqual([1, 1, 1]);
  expect(await get(1n)).toBe(1);
  expect(state.loads).toBe(2);
  state.nowMs += RETRY_AFTER_MS;
  expect(await get(1n)).toBe(1);
  expect(state.loads).toBe(3);
  state.nowMs = KEEP_FOR_MS + 1;
  await expect(get(1n)).rejects.toThrow("away");
  state.away = false;
  expect(await get(1n)).toBe(state.loads);
});

test("[TOOL] a value under an older epoch is never kept, nor one that was forgotten", async () => {
  const { state, cache, get } = cacheRig();
  await get(1n);
  state.away = true;
  await expect(get(2n)).rejects.toThrow("away");
  state.away = false;
  await get(2n);
  state.away = true;
  state.nowMs = RELOAD_AFTER_MS + 1;
  const reloading = get(2n);
  cache.forget();
  await expect(reloading).rejects.toThrow("away");
  await expect(get(2n)).rejects.toThrow("away");
});

test("[TOOL] an aged value is loaded once by all its callers, a newer epoch and epoch 0 load at once", async () => {
  const { state, get } = cacheRig();
  await get(1n);
  state.nowMs = RELOAD_AFTER_MS + 1;
  expect(await Promise.all([get(1n), get(1n)])).toEqual([2, 2]);
  expect(await get(1n)).toBe(2);
  expect(await get(2n)).toBe(3);
  expect(await get(1n)).toBe(3);
  expect(await get(0n)).toBe(4);
});

test("[TOOL] what is kept is bounded by its size, and a value that is larger than that is not kept at all", async () => {
  const loads: string[] = [];
  const cache = createEpochCache<string>(100, () => 0, { maxBytes: 10_000, sizeOf: (text) => text.length });
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
