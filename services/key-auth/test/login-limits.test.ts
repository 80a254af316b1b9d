import { randomBytes, randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { connectRedis, untilReady } from "@toolgate/epoch/redis";
import { createSecretBox } from "@toolgate/secret-box/secret-box";
import { CLIENT_ADDRESS_HEADER } from "@toolgate/service-host/principal";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDevices } from "../src/domain/devices.ts";
import { loadDeviceKey } from "../src/login/device-key.ts";
import {
  createRedisThrottle,
  MAX_ACCOUNT_FAILURES,
  MAX_ADDRESS_FAILURES,
  MAX_FAILURES_OF_NETWORK,
} from "../src/login/throttle.ts";
import { provision } from "../src/operator/provision.ts";
import { accountHash, callerNetwork, countedFor, loginSource } from "../src/rpc/sessions/check-password.ts";
import { account, codeOf, type RunningKeyAuth, runKeyAuth } from "./running-key-auth.ts";

let keyAuth: RunningKeyAuth;
beforeAll(async () => {
  keyAuth = await runKeyAuth({ replicas: 2 });
});
afterAll(() => keyAuth[Symbol.asyncDispose]());

async function newUser() {
  const user = account(`${randomUUID()}@example.test`, "manager");
  await provision(keyAuth.pool, user);
  return user;
}

const networkOf = (address: string) =>
  callerNetwork({ requestHeader: new Headers({ [CLIENT_ADDRESS_HEADER]: address }) });

/** Failures as the service counts them, without the work of as many password checks. */
async function failuresOf(email: () => string, address: (failure: number) => string, count: number) {
  const redis = connectRedis({ url: keyAuth.servers.redisUrl, name: "test", onError: () => {} });
  await untilReady(redis, 60_000);
  const throttle = createRedisThrottle(redis);
  for (let failure = 0; failure < count; failure += 1) {
    const attempt = await throttle.begin(
      countedFor({ account: accountHash(email()), network: networkOf(address(failure)), isKnown: false }),
    );
    expect(attempt.kind).toBe("allowed");
  }
  redis.disconnect();
}

const loginFrom = (clientAddress: string, email: string, password: string, replica = 0) =>
  codeOf(keyAuth.sessions(replica).login({ email, password }, { headers: { [CLIENT_ADDRESS_HEADER]: clientAddress } }));

test("[MGMT-4] guesses from one network lock only that network out of the account, on every replica", async () => {
  const user = await newUser();
  const other = await newUser();
  const attacker = `2001:db8:${randomUUID().slice(0, 4)}:1::`;
  await failuresOf(
    () => user.email,
    (failure) => `${attacker}${failure}`,
    MAX_FAILURES_OF_NETWORK,
  );
  for (const replica of [0, 1]) {
    expect(await loginFrom(`${attacker}ffff`, user.email, user.password, replica)).toBe(Code.ResourceExhausted);
    expect(await loginFrom("2001:db8:2:2::1", user.email, user.password, replica)).toBeUndefined();
    expect(await loginFrom(`${attacker}1`, other.email, other.password, replica)).toBeUndefined();
  }
});

test("[MGMT-4] guesses from many networks lock the account, even if logins from elsewhere succeed", async () => {
  const user = await newUser();
  const prefix = `2001:db8:${randomUUID().slice(0, 4)}`;
  await failuresOf(
    () => user.email,
    (failure) => `${prefix}:${failure.toString(16)}::1`,
    MAX_ACCOUNT_FAILURES - 1,
  );
  expect(await loginFrom("203.0.113.1", user.email, user.password)).toBeUndefined();
  expect(await loginFrom("203.0.113.1", user.email, user.password, 1)).toBeUndefined();
  expect(await loginFrom("203.0.113.2", user.email, "guess")).toBe(Code.Unauthenticated);
  expect(await loginFrom("203.0.113.3", user.email, "guess", 1)).toBe(Code.ResourceExhausted);
});

test("[MGMT-4] a network that fails on many accounts is locked out, other networks are not", async () => {
  const user = await newUser();
  const prefix = `2001:db8:${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}`;
  await failuresOf(
    () => `${randomUUID()}@example.test`,
    () => `${prefix}::1`,
    MAX_ADDRESS_FAILURES - 1,
  );
  expect(await loginFrom(`${prefix}::2`, user.email, user.password)).toBeUndefined();
  expect(await loginFrom(`${prefix}::3`, `${randomUUID()}@example.test`, "guess")).toBe(Code.Unauthenticated);
  const other = await newUser();
  expect(await loginFrom(`${prefix}::4`, other.email, other.password)).toBe(Code.ResourceExhausted);
  expect(await loginFrom("2001:db8:1:1::4", other.email, other.password)).toBeUndefined();
  // This one has logged in from there before.
  expect(await loginFrom(`${prefix}::5`, user.email, user.password, 1)).toBeUndefined();
});

test("[MGMT-4] strangers who lock an account do not lock its owner out of a network used before", async () => {
  const user = await newUser();
  const prefix = `2001:db8:${randomUUID().slice(0, 4)}`;
  expect(await loginFrom("198.51.100.7", user.email, user.password)).toBeUndefined();
  await failuresOf(
    () => user.email,
    (failure) => `${prefix}:${failure.toString(16)}::1`,
    MAX_ACCOUNT_FAILURES,
  );
  for (const replica of [0, 1]) {
    expect(await loginFrom("198.51.100.8", user.email, user.password, replica)).toBe(Code.ResourceExhausted);
    expect(await loginFrom("198.51.100.7", user.email.toUpperCase(), user.password, replica)).toBeUndefined();
  }
  // Guesses from there are bounded as anywhere else.
  for (let guess = 0; guess < MAX_FAILURES_OF_NETWORK; guess += 1) {
    expect(await loginFrom("198.51.100.7", user.email, "guess")).toBe(Code.Unauthenticated);
  }
  expect(await loginFrom("198.51.100.7", user.email, user.password)).toBe(Code.ResourceExhausted);
});

test("[MGMT-4] many correct logins of one Member delay nobody else", async () => {
  const [busy, quiet, colleague] = [await newUser(), await newUser(), await newUser()];
  expect(await loginFrom("198.51.100.20", busy.email, busy.password)).toBeUndefined();
  let ended = 0;
  const many = Array.from({ length: 50 }, async () => {
    const code = await loginFrom("198.51.100.20", busy.email, busy.password);
    ended += 1;
    return code;
  });
  await eventually(() => ended >= 2);
  for (const [user, address] of [
    [quiet, "203.0.113.40"],
    [colleague, "198.51.100.20"],
  ] as const) {
    const before = ended;
    expect(await loginFrom(address, user.email, user.password)).toBeUndefined();
    // One after the other they would have waited for all of them.
    expect(ended - before).toBeLessThan(10);
  }
  // On a slow machine, some have waited too long.
  for (const code of await Promise.all(many)) expect([undefined, Code.ResourceExhausted]).toContain(code);
});

test("[MGMT] logins that fail because of the database are not counted as failures of the account", async () => {
  const user = await newUser();
  await keyAuth.pool.query("alter table key_auth.users rename to users_of_the_test");
  try {
    for (let attempt = 0; attempt < MAX_FAILURES_OF_NETWORK; attempt += 1) {
      expect(await loginFrom("203.0.113.60", user.email, user.password)).toBe(Code.Internal);
    }
  } finally {
    await keyAuth.pool.query("alter table key_auth.users_of_the_test rename to users");
  }
  expect(await loginFrom("203.0.113.60", user.email, user.password)).toBeUndefined();
});

test("[MGMT] a device is known on every replica, and after a restart", async () => {
  const user = await newUser();
  const login = (deviceToken: string, replica: number, password = user.password) =>
    keyAuth.sessions(replica).login({ email: user.email, password, deviceToken });
  const { deviceToken } = await login("", 0);
  for (let failure = 0; failure < MAX_FAILURES_OF_NETWORK; failure += 1) await codeOf(login("", 0, "a guess"));
  expect(await codeOf(login("", 1))).toBe(Code.ResourceExhausted);
  expect(await codeOf(login(deviceToken, 1))).toBeUndefined();
  const box = createSecretBox({ keys: keyAuth.sealingKeys });
  const key = await loadDeviceKey(keyAuth.pool, box);
  const account = accountHash(user.email);
  expect(createDevices({ key, now: Date.now }).find(account, deviceToken)).toBeDefined();
  // A sealing key that was lost costs the known devices, and not the start.
  const other = createSecretBox({ keys: [{ version: 2, key: randomBytes(32) }] });
  await using fresh = await runKeyAuth();
  await loadDeviceKey(fresh.pool, other);
  expect(await loadDeviceKey(fresh.pool, other)).not.toEqual(key);
});

test("[MGMT-4] logins whose callers have left are not done", async () => {
  const user = await newUser();
  const sessionsOfUser = async () => {
    const { rows } = await keyAuth.pool.query(
      "select count(*)::int as count from key_auth.sessions s join key_auth.users u on u.id = s.user_id where u.email = $1",
      [user.email],
    );
    return rows[0].count;
  };
  const left = new AbortController();
  const many = Array.from({ length: 40 }, () => codeOf(keyAuth.sessions().login(user, { signal: left.signal })));
  await eventually(async () => (await sessionsOfUser()) > 0);
  left.abort();
  await Promise.all(many);
  // From another network, so that it waits for what those logins still do.
  expect(await loginFrom("203.0.113.70", user.email, user.password)).toBeUndefined();
  expect(await sessionsOfUser()).toBeLessThan(30);
});

test("[MGMT-4] a login names the /64 that it comes from, and its /48 as the site", async () => {
  const context = { devices: { find: () => undefined }, throttle: { isKnown: async () => false } };
  const sourceAt = (address: string) =>
    loginSource(context as never, { email: "a@example.test", deviceToken: "" }, {
      requestHeader: new Headers({ [CLIENT_ADDRESS_HEADER]: address }),
    } as never);
  expect(await sourceAt("2001:db8:1:2:3::4")).toMatchObject({ network: "20010db800010002", site: "20010db80001" });
  expect(await sourceAt("192.0.2.1")).toMatchObject({ network: "c0000201", site: "c0000201" });
});
