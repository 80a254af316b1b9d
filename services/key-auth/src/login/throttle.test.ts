import { randomUUID } from "node:crypto";
import { connectRedis, untilReady } from "@toolgate/epoch/redis";
import { serversOfRun } from "@toolgate/testbed/servers-of-run";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLocalThrottle, createRedisThrottle, LOCKOUT_S, type LoginThrottle, withFallback } from "./throttle.ts";

const redis = connectRedis({ url: serversOfRun().redisUrl, name: "test", onError: () => {} });
beforeAll(() => untilReady(redis, 60_000));
afterAll(() => redis.disconnect());

const counted = (maxFailures = 3) => ({ name: `test:${randomUUID()}`, maxFailures });

describe.each<[string, () => LoginThrottle]>([
  ["Redis", () => createRedisThrottle(redis)],
  ["this process", () => createLocalThrottle(Date.now)],
])("counting in %s", (_, create) => {
  test("[MGMT-4] attempts at the same time get no more guesses than the maximum", async () => {
    const throttle = create();
    const account = counted();
    const attempts = await Promise.all(Array.from({ length: 20 }, () => throttle.begin([account])));
    expect(attempts.filter(({ kind }) => kind === "allowed").length).toBe(3);
    const refused = attempts.find(({ kind }) => kind === "refused");
    expect(refused).toMatchObject({ retryAfterS: expect.any(Number) });
    if (refused?.kind === "refused") {
      expect(refused.retryAfterS).toBeGreaterThan(LOCKOUT_S - 60);
      expect(refused.retryAfterS).toBeLessThanOrEqual(LOCKOUT_S);
    }
  });

  test("[MGMT-4] a success resets the account's failures, and for the address removes only its own attempt", async () => {
    const throttle = create();
    const [account, address] = [counted(), counted(4)];
    for (let failure = 0; failure < 2; failure += 1) await throttle.begin([account, address]);
    await throttle.begin([account, address]);
    await throttle.succeeded([account, address]);
    expect(await throttle.begin([account, address])).toEqual({ kind: "allowed" });
    expect(await throttle.begin([counted(), address])).toEqual({ kind: "allowed" });
    expect(await throttle.begin([counted(), address])).toMatchObject({ kind: "refused" });
  });

  test("[MGMT] an attempt that could not be decided is taken out of every counter", async () => {
    const throttle = create();
    const both = [counted(2), counted(2)];
    for (let attempt = 0; attempt < 5; attempt += 1) {
      expect(await throttle.begin(both)).toEqual({ kind: "allowed" });
      await throttle.withdraw(both);
    }
    await throttle.begin(both);
    await throttle.begin(both);
    expect(await throttle.begin(both)).toMatchObject({ kind: "refused" });
  });

  test("[MGMT-4] an attempt refused because of its address does not count for the account", async () => {
    const throttle = create();
    const [account, address] = [counted(1), counted(1)];
    await throttle.begin([address]);
    expect(await throttle.begin([account, address])).toMatchObject({ kind: "refused" });
    expect(await throttle.begin([account])).toEqual({ kind: "allowed" });
  });
});

test("[MGMT-4] a lockout lasts from the failure that started it", async () => {
  let now = 0;
  const throttle = createLocalThrottle(() => now);
  const account = counted(2);
  await throttle.begin([account]);
  now += (LOCKOUT_S - 1) * 1000;
  await throttle.begin([account]);
  now += (LOCKOUT_S - 1) * 1000;
  expect(await throttle.begin([account])).toEqual({ kind: "refused", retryAfterS: 1 });
  now += 1000;
  expect(await throttle.begin([account])).toEqual({ kind: "allowed" });
});

test("[MGMT-4] a lockout in Redis starts with the failure that reaches the maximum", async () => {
  const account = counted(2);
  const throttle = createRedisThrottle(redis);
  await throttle.begin([account]);
  await redis.expire(`toolgate:login:${account.name}`, 5);
  await throttle.begin([account]);
  expect(await redis.ttl(`toolgate:login:${account.name}`)).toBeGreaterThan(LOCKOUT_S - 60);
});

test("[MGMT-4] while Redis is down, failures are counted in the process", async () => {
  const errors: unknown[] = [];
  const broken: LoginThrottle = {
    begin: () => Promise.reject(new Error("down")),
    succeeded: () => Promise.reject(new Error("down")),
    withdraw: () => Promise.reject(new Error("down")),
    isKnown: () => Promise.reject(new Error("down")),
    remember: () => Promise.reject(new Error("down")),
  };
  const throttle = withFallback(broken, createLocalThrottle(Date.now), (error) => errors.push(error));
  const account = counted(1);
  expect(await throttle.begin([account])).toEqual({ kind: "allowed" });
  expect(await throttle.begin([account])).toMatchObject({ kind: "refused" });
  await throttle.succeeded([account]);
  expect(await throttle.begin([account])).toEqual({ kind: "allowed" });
  await throttle.withdraw([account]);
  expect(await throttle.begin([account])).toEqual({ kind: "allowed" });
  expect(await throttle.isKnown("a:b")).toBe(false);
  await throttle.remember("a:b");
  expect(await throttle.isKnown("a:b")).toBe(true);
  expect(errors.length).toBe(9);
});
