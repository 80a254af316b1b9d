import { randomUUID } from "node:crypto";
import { provision } from "@toolgate/key-auth/operator/provision";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CallResponse, type RunningToolgate, runToolgate } from "./running-toolgate.ts";

const MAX_FAILURES = 10;

let toolgate: RunningToolgate;
beforeAll(async () => {
  toolgate = await runToolgate("single");
});
afterAll(() => toolgate[Symbol.asyncDispose]());

async function newUser() {
  const user = { email: `${randomUUID()}@example.test`, password: "a password" };
  await provision(toolgate.pool, { ...user, workspace: toolgate.account.workspace, role: "member" });
  return user;
}
const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  toolgate.request(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
const logIn = (credentials: object, cookie?: string) => post("/session", credentials, cookie ? { cookie } : {});
const deviceOf = ({ headers }: CallResponse) =>
  headers.getSetCookie().flatMap((cookie) => /^toolgate_device=[^;]+/.exec(cookie) ?? [])[0] ?? "";
const rpc = (body: object) => post("/toolgate.key_auth.v1.SessionService/Login", body);
const guess = async (email: string, times: number, cookie?: string) => {
  for (let time = 0; time < times; time += 1) {
    expect((await logIn({ email, password: "a guess" }, cookie)).status).toBe(401);
  }
};

test("[MGMT] guesses in the owner's own network lock out the network, but not the owner's known browser", async () => {
  const user = await newUser();
  const first = await logIn(user);
  expect(first.status).toBe(200);
  const device = deviceOf(first);
  await guess(user.email, MAX_FAILURES);
  expect((await logIn(user)).status).toBe(429);
  const again = await logIn(user, device);
  expect(again.status).toBe(200);
  // A login makes a new token, and does not let the strangers guess again.
  expect(deviceOf(again)).not.toBe(device);
  expect((await logIn({ ...user, password: "a guess" })).status).toBe(429);
  expect((await logIn(user, deviceOf(again))).status).toBe(200);
});

test("[MGMT] the token of one account makes no device known to another, and guesses with it are bounded too", async () => {
  const [ada, grace] = [await newUser(), await newUser()];
  const device = deviceOf(await logIn(ada));
  await guess(grace.email, MAX_FAILURES, device);
  expect((await logIn(grace, device)).status).toBe(429);
  await guess(ada.email, MAX_FAILURES, device);
  const refused = await logIn(ada, device);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(800);
  // Guesses with the stolen token leave everybody else's as they are.
  expect((await logIn(ada)).status).toBe(200);
});

test("[MGMT] a program gets and sends the token in the request, also one that has waited since Redis lost its data", async () => {
  const user = await newUser();
  const { body } = await rpc(user);
  expect(body.deviceToken).toMatch(/^[\w-]{72}$/);
  await toolgate.redis.wipe();
  await expect
    .poll(async () => (await logIn({ email: user.email, password: "a guess" })).status, { timeout: 180_000 })
    .toBe(401);
  for (let failure = 0; failure < MAX_FAILURES; failure += 1) await rpc({ ...user, password: "a guess" });
  expect((await rpc(user)).status).toBe(429);
  expect((await rpc({ ...user, deviceToken: body.deviceToken })).status).toBe(200);
  const changed = String(body.deviceToken).replace(/^./, (first) => (first === "A" ? "B" : "A"));
  expect((await rpc({ ...user, deviceToken: changed })).status).toBe(429);
});

test("[MGMT] a session may change its password while its network is locked out, and guesses there are its own", async () => {
  const user = await newUser();
  const token = (await rpc(user)).body.token as string;
  const change = (currentPassword: string) =>
    post("/toolgate.key_auth.v1.SessionService/ChangePassword", {
      token,
      currentPassword,
      newPassword: "a new password",
    });
  await guess(user.email, MAX_FAILURES);
  expect((await change(user.password)).status).toBe(200);
  for (let failure = 0; failure < MAX_FAILURES; failure += 1) expect((await change("a guess")).status).toBe(401);
  expect((await change("a new password")).status).toBe(429);
});
