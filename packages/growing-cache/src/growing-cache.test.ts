import { expect, test } from "vitest";
import { growingCache } from "./growing-cache.ts";

test("a cache forgets the entry used least recently, and no other", () => {
  const cache = growingCache<string, number>(3);
  for (const [index, key] of ["a", "b", "c"].entries()) cache.set(key, index);
  cache.get("a");
  cache.set("d", 3);
  expect([...cache.keys()].sort()).toEqual(["a", "c", "d"]);
});

test("a cache that may hold ten million entries takes memory only for those that it holds", () => {
  const before = process.memoryUsage();
  const cache = growingCache<string, true>(10_000_000, { ttl: 1_000 });
  cache.set("only", true);
  const after = process.memoryUsage();
  expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(10_000_000);
});

test("an entry ends after its time", () => {
  let nowMs = 1;
  const cache = growingCache<string, true>(10, { ttl: 100, ttlResolution: 0, perf: { now: () => nowMs } });
  cache.set("key", true);
  nowMs = 101;
  expect(cache.has("key")).toBe(true);
  nowMs = 102;
  expect(cache.has("key")).toBe(false);
});
