import { randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { connectRedis, untilReady } from "@toolgate/epoch/redis";
import { CLIENT_ADDRESS_HEADER } from "@toolgate/service-host/principal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLoginThrottle, MAX_FAILURES } from "../../src/login/throttle.ts";
import { countedForLogin } from "../../src/rpc/sessions/check-password.ts";
import { codeOf, newUser, type RunningKeyAuth, runKeyAuth } from "../running-key-auth.ts";

let keyAuth: RunningKeyAuth;
beforeAll(async () => {
  keyAuth = await runKeyAuth({ replicas: 2 });
});
afterAll(() => keyAuth[Symbol.asyncDispose]());

const someone = () => newUser(keyAuth, "manager");

const NO_DEVICES = { find: () => undefined, renew: () => "" };

/** Failures as the service counts them, without the work of as many password checks. */
async function failuresOf(email: () => string, address: (failure: number) => string, count: number) {
  const redis = connectRedis({ url: keyAuth.servers.redisUrl, name: "test", onError: () => {} });
  await untilReady(redis, 60_000);
  const throttle = createLoginThrottle(redis);
  for (let failure = 0; failure < count; failure += 1) {
    const requestHeader = new Headers({ [CLIENT_ADDRESS_HEADER]: address(failure) });
    const counted = countedForLogin(NO_DEVICES, { email: email(), deviceToken: "" }, { requestHeader });
    expect(await throttle.begin(counted)).toBeUndefined();
  }
  redis.disconnect();
}

const loginFrom = (clientAddress: string, email: string, password: string, replica = 0) =>
  codeOf(keyAuth.sessions(replica).login({ email, password }, { headers: { [CLIENT_ADDRESS_HEADER]: clientAddress } }));

test("[MGMT-4] guesses from one network lock only that network out of the account, on every replica", async () => {
  const user = await someone();
  const other = await someone();
  const attacker = `2001:db8:${randomUUID().slice(0, 4)}:1::`;
  await failuresOf(
    () => user.email,
    (failure) => `${attacker}${failure}`,
    MAX_FAILURES.pair,
  );
  for (const replica of [0, 1]) {
    expect(await loginFrom(`${attacker}ffff`, user.email, user.password, replica)).toBe(Code.ResourceExhausted);
    expect(await loginFrom("2001:db8:2:2::1", user.email, user.password, replica)).toBeUndefined();
    expect(await loginFrom(`${attacker}1`, other.email, other.password, replica)).toBeUndefined();
  }
});

test("[MGMT-4] guesses from many networks lock the account, even if logins from elsewhere succeed", async () => {
  const user = await someone();
  const prefix = `2001:db8:${randomUUID().slice(0, 4)}`;
  await failuresOf(
    () => user.email,
    (failure) => `${prefix}:${failure.toString(16)}::1`,
    MAX_FAILURES.account - 1,
  );
  expect(await loginFrom("203.0.113.1", user.email, user.password)).toBeUndefined();
  expect(await loginFrom("203.0.113.1", user.email, user.password, 1)).toBeUndefined();
  expect(await loginFrom("203.0.113.2", user.email, "guess")).toBe(Code.Unauthenticated);
  expect(await loginFrom("203.0.113.3", user.email, "guess", 1)).toBe(Code.ResourceExhausted);
});

test("[MGMT-4] a network that fails on many accounts is locked out, other networks are not", async () => {
  const user = await someone();
  const prefix = `2001:db8:${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}`;
  await failuresOf(
    () => `${randomUUID()}@example.test`,
    () => `${prefix}::1`,
    MAX_FAILURES.network - 1,
  );
  expect(await loginFrom(`${prefix}::2`, user.email, user.password)).toBeUndefined();
  expect(await loginFrom(`${prefix}::3`, `${randomUUID()}@example.test`, "guess")).toBe(Code.Unauthenticated);
  const other = await someone();
  expect(await loginFrom(`${prefix}::4`, other.email, other.password)).toBe(Code.ResourceExhausted);
  expect(await loginFrom("2001:db8:1:1::4", other.email, other.password)).toBeUndefined();
});

test("[MGMT] logins that fail because of the database are not counted as failures of the account", async () => {
  const user = await someone();
  await keyAuth.pool.query("alter table key_auth.users rename to users_of_the_test");
  try {
    for (let attempt = 0; attempt < MAX_FAILURES.pair; attempt += 1) {
      expect(await loginFrom("203.0.113.60", user.email, user.password)).toBe(Code.Internal);
    }
  } finally {
    await keyAuth.pool.query("alter table key_auth.users_of_the_test rename to users");
  }
  expect(await loginFrom("203.0.113.60", user.email, user.password)).toBeUndefined();
});

test("[MGMT] [MGMT-4] strangers lock a known device out neither by account nor in its own network, on any replica", async () => {
  const user = await someone();
  const login = (deviceToken: string, replica: number, password = user.password) =>
    codeOf(keyAuth.sessions(replica).login({ email: user.email, password, deviceToken }));
  const { deviceToken } = await keyAuth.sessions(0).login({ email: user.email, password: user.password });
  for (let failure = 0; failure < MAX_FAILURES.pair; failure += 1) await login("", 0, "a guess");
  expect(await login("", 1)).toBe(Code.ResourceExhausted);
  expect(await login(deviceToken, 1)).toBeUndefined();
  // Its own guesses are bounded as anybody's.
  for (let failure = 0; failure < MAX_FAILURES.device; failure += 1) {
    expect(await login(deviceToken, 0, "a guess")).toBe(Code.Unauthenticated);
  }
  expect(await login(deviceToken, 1)).toBe(Code.ResourceExhausted);
});

test("[MGMT-4] many logins from some networks, and more than may wait, do not keep others from logging in", async () => {
  const user = await someone();
  const left = new AbortController();
  const from = (network: number) =>
    Array.from({ length: 60 }, () => {
      const headers = { [CLIENT_ADDRESS_HEADER]: `198.51.100.${network}` };
      const login = { email: `${randomUUID()}@example.test`, password: "a guess" };
      return codeOf(keyAuth.sessions().login(login, { headers, signal: left.signal }));
    });
  const many = [1, 2, 3].flatMap(from);
  await Promise.race(many);
  expect(await loginFrom("203.0.113.71", user.email, user.password)).toBeUndefined();
  left.abort();
  await Promise.all(many);
});

test("[MGMT-4] while Redis is down, failures are counted in the process", async () => {
  const redis = connectRedis({ url: "redis://127.0.0.1:1", name: "test", onError: () => {} });
  const throttle = createLoginThrottle(redis);
  const counted = { pair: randomUUID() };
  for (let failure = 0; failure < MAX_FAILURES.pair; failure += 1) {
    expect(await throttle.begin(counted)).toBeUndefined();
  }
  expect(await throttle.begin(counted)).toBeGreaterThan(0);
  redis.disconnect();
});
