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

test("requests that come together are one command, and each gets its own reply", async () => {
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
});

test("a request is sent before the next event while Redis has nothing to do, and later ones of that turn together", async () => {
  const add = newAdd();
  await add(0, "a", 1);
  const before = await scripts();
  const later = () => new Promise<void>((resolve) => process.nextTick(resolve));
  const replies = [add(1, "a", 1)];
  for (let request = 2; request <= 4; request += 1) {
    await later();
    await later();
    replies.push(add(request, "a", 1));
  }
  expect(await Promise.all(replies)).toEqual([1, 2, 3, 4].map((request) => [String(request), request + 1]));
  expect(await scripts()).toBe(before + 2);
});

test("requests with other than the script's keys and values are refused, and disturb no other", async () => {
  const run = createScriptBatches(redis, { name: "add", lua: ADD_LUA, keysPerRequest: 1, valuesPerRequest: 2 });
  const replies = await Promise.allSettled([run(["a"], [0, 1]), run(["a", "b"], [1, 1]), run(["a"], [2, 1])]);
  expect(replies.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await redis.get("a")).toBe("2");
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
