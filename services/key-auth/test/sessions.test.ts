import { Code, ConnectError } from "@connectrpc/connect";
import { Role } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { expect, test } from "vitest";
import { provision } from "../src/operator/provision.ts";
import { account, codeOf, runKeyAuth } from "./running-key-auth.ts";

test("[MGMT-4] a session gives access to the user's own workspaces, with the user's roles, until the logout", async () => {
  await using keyAuth = await runKeyAuth();
  const mine = account("Manager@Example.test", "manager");
  const foreign = account("foreign@example.test", "admin");
  await provision(keyAuth.pool, mine);
  await provision(keyAuth.pool, foreign);
  const { token, memberships } = await keyAuth.sessions().login({
    email: "manager@example.TEST",
    password: mine.password,
  });
  expect(memberships).toMatchObject([{ workspace: mine.workspace, role: Role.MANAGER }]);
  expect(await keyAuth.sessions().authorize({ token, workspace: mine.workspace })).toMatchObject({
    role: Role.MANAGER,
  });
  expect(await codeOf(keyAuth.sessions().authorize({ token, workspace: foreign.workspace }))).toBe(Code.NotFound);
  expect(await codeOf(keyAuth.sessions().authorize({ token, workspace: "nowhere" }))).toBe(Code.NotFound);
  await keyAuth.sessions().logout({ token });
  expect(await codeOf(keyAuth.sessions().authorize({ token, workspace: mine.workspace }))).toBe(Code.Unauthenticated);
});

test("[MGMT-4] a wrong password and an unknown user get the same error, and sessions expire", async () => {
  let now = Date.now();
  await using keyAuth = await runKeyAuth({ now: () => now });
  const user = account("user@example.test", "admin");
  await provision(keyAuth.pool, user);
  const refusal = async (email: string, password: string) =>
    keyAuth
      .sessions()
      .login({ email, password })
      .catch((error: unknown) => ConnectError.from(error).message);
  expect(await refusal(user.email, "wrong")).toBe(await refusal("nobody@example.test", user.password));
  const { token } = await keyAuth.sessions().login({ email: user.email, password: user.password });
  now += 13 * 3_600_000;
  expect(await codeOf(keyAuth.sessions().authorize({ token, workspace: user.workspace }))).toBe(Code.Unauthenticated);
});
