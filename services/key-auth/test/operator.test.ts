import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { Code } from "@connectrpc/connect";
import { Role } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runAsOperator } from "../src/operator/run.ts";
import { codeOf, newUser, type RunningKeyAuth, runKeyAuth } from "./running-key-auth.ts";

let keyAuth: RunningKeyAuth;
beforeAll(async () => {
  keyAuth = await runKeyAuth({ replicas: 2 });
});
afterAll(() => keyAuth[Symbol.asyncDispose]());

async function operate(command: string, input = "") {
  const lines: string[] = [];
  const code = await runAsOperator({
    argv: command.split(" "),
    config: () => keyAuth.servers,
    readInput: () => text(Readable.from([input])),
    print: (line) => lines.push(line),
    printError: (line) => lines.push(line),
  });
  return { code, output: lines.join("\n") };
}

const fresh = () => ({ email: `${randomUUID()}@example.test`, workspace: `w-${randomUUID()}` });

test("[MGMT-2] [MGMT-3] [MGMT-4] the operator creates a workspace and a user, and sets, changes and removes roles", async () => {
  const { email, workspace } = fresh();
  const password = "correct horse battery";
  expect(await operate(`workspace create ${workspace}`)).toMatchObject({ code: 0 });
  expect(await operate(`user create ${email}`, `${password}\n`)).toMatchObject({ code: 0 });
  const { token } = await keyAuth.sessions().login({ email, password });
  const role = () =>
    keyAuth
      .sessions()
      .authorize({ token, workspace })
      .then(
        (user) => user.role,
        () => undefined,
      );
  expect(await role()).toBeUndefined();
  await operate(`role set ${email} ${workspace} manager`);
  expect(await role()).toBe(Role.MANAGER);
  await operate(`role set ${email} ${workspace} member`);
  expect(await role()).toBe(Role.MEMBER);
  await operate(`role remove ${email} ${workspace}`);
  expect(await role()).toBeUndefined();
  expect((await operate("workspace list")).output.split("\n")).toContain(workspace);
});

test("[ERR-12] a workspace is locked from the next call on, on every replica, until it is unlocked", async () => {
  const admin = await newUser(keyAuth, "admin");
  const { workspace } = admin;
  const { secret } = await keyAuth.newKey({}, admin);
  const locked = async () => {
    const verdicts = await Promise.all([0, 1].map((replica) => keyAuth.verify(secret, { replica })));
    return verdicts.map((verdict) => verdict?.workspaceLocked);
  };
  expect(await locked()).toEqual([false, false]);
  expect(await operate(`workspace lock ${workspace}`)).toEqual({ code: 0, output: `workspace ${workspace} locked` });
  expect(await locked()).toEqual([true, true]);
  expect((await operate("workspace list")).output).toContain(`${workspace} (locked)`);
  await operate(`workspace unlock ${workspace}`);
  expect(await locked()).toEqual([false, false]);
  await operate(`workspace unlock ${workspace}`);
  const { entries } = await keyAuth.audit.listAuditEntries({}, admin);
  const locks = entries.filter(({ action }) => action.startsWith("workspace."));
  expect(locks.map(({ action, actor }) => `${action} ${actor}`)).toEqual([
    "workspace.unlock operator",
    "workspace.lock operator",
  ]);
});

test("[MGMT-4] a password that the operator sets replaces the old one and ends the user's sessions", async () => {
  const { email, password, workspace } = await newUser(keyAuth, "member");
  const { token } = await keyAuth.sessions().login({ email, password });
  expect((await operate(`user password ${email}`, "short")).output).toContain("at least 8");
  expect(await codeOf(keyAuth.sessions().authorize({ token, workspace }))).toBeUndefined();
  await operate(`user password ${email}`, "another password");
  expect(await codeOf(keyAuth.sessions().authorize({ token, workspace }))).toBe(Code.Unauthenticated);
  expect(await codeOf(keyAuth.sessions().login({ email, password }))).toBe(Code.Unauthenticated);
  expect(await codeOf(keyAuth.sessions().login({ email, password: "another password" }))).toBeUndefined();
});

test("[MGMT] a faulty command fails with the reason and changes nothing", async () => {
  const { email, workspace } = fresh();
  const failing: [string, string][] = [
    ["workspace", "Usage"],
    ["workspace create", "Usage"],
    ["--force", "Usage"],
    ["workspace create Wrong_Code", "a code has"],
    [`workspace lock ${workspace}`, "no workspace"],
    [`user create nobody`, "not an email"],
    [`user create \u001b[1m${email}`, "not an email"],
    [`user password ${email}`, "no user"],
    [`role set ${email} ${workspace} admin`, "no workspace"],
    [`role set ${email} ${workspace} owner`, "a role is"],
  ];
  for (const [command, why] of failing) {
    const { code, output } = await operate(command, "long enough password");
    expect(code).toBe(1);
    expect(output).toContain(why);
  }
  await operate(`workspace create ${workspace}`);
  expect((await operate(`workspace create ${workspace}`)).output).toContain("already");
  expect((await operate(`role set ${email} ${workspace} admin`)).output).toContain("no user");
});
