import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { Role, TokenKind } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { CLIENT_ADDRESS_HEADER } from "@toolgate/service-host/principal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { codeOf, newUser, type RunningKeyAuth, runKeyAuth } from "../running-key-auth.ts";

let now = Date.now();
let keyAuth: RunningKeyAuth;
beforeAll(async () => {
  keyAuth = await runKeyAuth({ now: () => now });
});
afterAll(() => keyAuth[Symbol.asyncDispose]());

test("[MGMT-4] a session gives access to the user's own workspaces, with the user's roles, until it expires", async () => {
  const mine = await newUser(keyAuth, "manager");
  const foreign = await newUser(keyAuth, "admin");
  const credentials = { email: mine.email.toUpperCase(), password: mine.password };
  const { token, memberships } = await keyAuth.sessions().login(credentials);
  const own = { workspace: mine.workspace, role: Role.MANAGER };
  expect(memberships).toMatchObject([own]);
  expect(await keyAuth.sessions().getSession({ token })).toMatchObject({ email: mine.email, memberships: [own] });
  expect(await keyAuth.sessions().authorize({ token, workspace: mine.workspace })).toMatchObject(own);
  for (const workspace of [foreign.workspace, "nowhere"])
    expect(await codeOf(keyAuth.sessions().authorize({ token, workspace }))).toBe(Code.NotFound);
  now += 13 * 3_600_000;
  expect(await codeOf(keyAuth.sessions().authorize({ token, workspace: mine.workspace }))).toBe(Code.Unauthenticated);
  expect(await codeOf(keyAuth.sessions().getSession({ token }))).toBe(Code.Unauthenticated);
});

test("[MGMT-4] a wrong password and an unknown user get the same error", async () => {
  const user = await newUser(keyAuth, "admin");
  const refusal = async (email: string, password: string) =>
    keyAuth
      .sessions()
      .login({ email, password })
      .catch((error: unknown) => ConnectError.from(error).message);
  expect(await refusal(user.email, "wrong")).toBe(await refusal("nobody@example.test", user.password));
});

test("[MGMT-4] users see their sessions with device and shortened address, and end one or all others", async () => {
  const [user, other] = [await newUser(keyAuth, "member"), await newUser(keyAuth, "member")];
  const logIn = async ({ email, password }: typeof user, device: string, tokenKind = TokenKind.SESSION) => {
    const from = { headers: { [CLIENT_ADDRESS_HEADER]: "203.0.113.7" } };
    const { token } = await keyAuth.sessions().login({ email, password, device, tokenKind }, from);
    return token;
  };
  const list = async (token: string) => (await keyAuth.sessions().listSessions({ token })).sessions;
  const phone = await logIn(user, "Phone\u0000\u001b[1m");
  now += 1000;
  const program = await logIn(user, "x".repeat(400), TokenKind.JWT);
  now += 1000;
  const here = await logIn(user, "Laptop");
  const foreign = await list(await logIn(other, "Elsewhere"));
  const sessions = await list(here);
  expect(sessions).toMatchObject([
    { device: "Laptop", address: "203.0.113.0", isCurrent: true, tokenKind: TokenKind.SESSION },
    { device: "x".repeat(300), isCurrent: false, tokenKind: TokenKind.JWT },
    { device: "Phone[1m", isCurrent: false },
  ]);
  const end = (sessionId = "") => codeOf(keyAuth.sessions().endSession({ token: here, sessionId }));
  expect(await end(foreign[0]?.id)).toBe(Code.NotFound);
  expect(await end("x")).toBe(Code.NotFound);
  expect(await end(sessions[2]?.id)).toBeUndefined();
  expect(await codeOf(list(phone))).toBe(Code.Unauthenticated);
  expect(await codeOf(list(program))).toBeUndefined();
  expect(await keyAuth.sessions().endOtherSessions({ token: here })).toMatchObject({ ended: 1 });
  expect(await codeOf(list(program))).toBe(Code.Unauthenticated);
  expect((await list(here)).map(({ device }) => device)).toEqual(["Laptop"]);
});

test("[MGMT-4] the last use of a session is noted, at most every five minutes", async () => {
  const user = await newUser(keyAuth, "member");
  const { token } = await keyAuth.sessions().login({ email: user.email, password: user.password });
  const lastUse = async () => {
    const { sessions } = await keyAuth.sessions().listSessions({ token });
    return timestampMs(sessions[0]?.lastUsedAt as Timestamp);
  };
  const started = now;
  now += 240_000;
  expect(await lastUse()).toBe(started);
  now += 120_000;
  await keyAuth.sessions().authorize({ token, workspace: user.workspace });
  await expect.poll(lastUse).toBe(now);
});
