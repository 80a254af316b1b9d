import { once } from "node:events";
import { testRedis } from "@toolgate/testbed/servers";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { connectRedis, untilReady } from "../src/redis.ts";
import { createScriptBatches } from "../src/script-batches.ts";

/** Adds a value to a counter and returns the number of the request with its sum. */
const ADD_LUA = `
local function decide(key, value)
  return {ARGV[value + 1], redis.call('incrby', KEYS[key + 1], ARGV[value + 2])}
end`;

let server: Awaited<ReturnType<typeof testRedis>>;
let redis: Redis;
beforeAll(async () => {
  server = await testRedis();
  redis = connectRedis({ url: server.url, name: "test", onError: () => {} });
  await untilReady(redis, 60_000);
});
afterAll(async () => {
  redis.disconnect();
  await server[Symbol.asyncDispose]();
});
beforeEach(() => redis.flushall());

const newAdd = (connection = redis) => {
  const run = createScriptBatches(connection, { name: "add", lua: ADD_LUA, keysPerRequest: 1, valuesPerRequest: 2 });
  return (request: number, counter: string, value: number) => run([counter], [request, value]);
};

/** How many scripts Redis has run. */
async function scripts(): Promise<number> {
  const stats = await redis.info("commandstats");
  return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}

test("requests that come together are one command, are decided in their order, and each gets its own reply", async () => {
  const add = newAdd();
  const before = await scripts();
  const together = Array.from({ length: 30 }, async (_, n) => {
    // Some come only after promises that were settled before.
    for (let waits = 0; waits < n % 4; waits += 1) await undefined;
    return { n, reply: (await add(n, n % 2 ? "odd" : "even", n)) as [string, number] };
  });
  const replies = await Promise.all(together);
  expect(await scripts()).toBe(before + 1);
  for (const { n, reply } of replies) expect(reply[0]).toBe(String(n));
  const largestSum = (parity: number) =>
    Math.max(...replies.filter(({ n }) => n % 2 === parity).map((r) => r.reply[1]));
  expect([largestSum(0), largestSum(1)]).toEqual([210, 225]);
  const inOrder = replies.filter(({ n }) => n % 4 === 0).map(({ reply }) => reply[1]);
  expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
});

test("a request whose decision fails rejects alone", async () => {
  const add = newAdd();
  await redis.set("broken", "not a number");
  const replies = await Promise.allSettled([add(0, "a", 1), add(1, "broken", 1), add(2, "a", 1)]);
  expect(replies).toEqual([
    { status: "fulfilled", value: ["0", 1] },
    { status: "rejected", reason: expect.objectContaining({ message: expect.stringMatching(/not an integer/) }) },
    { status: "fulfilled", value: ["2", 2] },
  ]);
});

test("a command has at most 64 requests", async () => {
  const add = newAdd();
  const before = await scripts();
  await Promise.all(Array.from({ length: 129 }, (_, n) => add(n, "a", 1)));
  expect(await scripts()).toBe(before + 3);
  expect(await redis.get("a")).toBe("129");
});

test("without a connection all requests reject, and later ones are decided again", async () => {
  const other = connectRedis({ url: server.url, name: "other", onError: () => {} });
  await untilReady(other, 60_000);
  const add = newAdd(other);
  try {
    const closed = once(other, "close");
    other.disconnect(true);
    await closed;
    const replies = await Promise.allSettled([add(0, "a", 1), add(1, "a", 1)]);
    expect(replies.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await untilReady(other, 60_000);
    expect(await add(2, "a", 1)).toEqual(["2", 1]);
  } finally {
    other.disconnect();
  }
});
