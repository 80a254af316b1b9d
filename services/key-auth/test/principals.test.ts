import { createSecretBox } from "@toolgate/secret-box/secret-box";
import { createTextReaders } from "@toolgate/service-host/identity/signed-text";
import { expect, test } from "vitest";
import { maintainSigningKeys } from "../src/login/signing-keys.ts";
import { provision } from "../src/operator/provision.ts";
import { setRole } from "../src/operator/roles.ts";
import { account, runKeyAuth } from "./running-key-auth.ts";

const DAY_MS = 86_400_000;

test("Authorize signs what it says about the user; the same text serves many requests, and a changed role gets another", async () => {
  let now = Date.now();
  await using keyAuth = await runKeyAuth({ now: () => now });
  const user = account("user@example.test", "manager");
  await provision(keyAuth.pool, user);
  const { token } = await keyAuth.sessions().login({ email: user.email, password: user.password });
  const ask = () => keyAuth.sessions().authorize({ token, workspace: user.workspace });
  const { principals: reader } = createTextReaders({
    keySet: async () => JSON.parse((await keyAuth.sessions().getKeySet({})).jwksJson),
    now: () => now,
    onError: () => {},
  });
  const first = await ask();
  const { userId, email, workspaceId, workspace } = first;
  const said = { userId, email, workspaceId, workspace };
  expect(await reader.read(first.principal)).toEqual({ ...said, role: "manager" });
  now += 29_000;
  expect((await ask()).principal).toBe(first.principal);
  now += 2_000;
  const later = (await ask()).principal;
  expect(later).not.toBe(first.principal);
  // A text from before a clock was set back would be refused by services whose clocks are right.
  now -= 3_600_000;
  expect((await ask()).principal).not.toBe(later);
  now += 3_600_000;
  const operator = { pool: keyAuth.pool, now: () => new Date(now) } as Parameters<typeof setRole>[0];
  await setRole(operator, { email: user.email, workspace: user.workspace, role: "member" });
  expect(await reader.read((await ask()).principal)).toEqual({ ...said, role: "member" });
  // The next signing key is used, and known to readers, as soon as it exists.
  now += 31 * DAY_MS;
  await maintainSigningKeys(keyAuth.pool, createSecretBox({ keys: keyAuth.sealingKeys }), new Date(now));
  const { token: again } = await keyAuth.sessions().login({ email: user.email, password: user.password });
  const { principal } = await keyAuth.sessions().authorize({ token: again, workspace: user.workspace });
  expect(await reader.read(principal)).toEqual({ ...said, role: "member" });
});
