import { randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { Role } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { CLIENT_ADDRESS_HEADER } from "@toolgate/service-host/principal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MAX_FAILURES } from "../../src/login/throttle.ts";
import { codeOf, newUser, type RunningKeyAuth, runKeyAuth, type User } from "../running-key-auth.ts";

/** What all tests here have logged. */
const logged: string[] = [];
/** Those of all links that were made here. */
const tokens: string[] = [];
let keyAuth: RunningKeyAuth;
beforeAll(async () => {
  keyAuth = await runKeyAuth({ log: (line) => logged.push(line) });
});
afterAll(() => keyAuth[Symbol.asyncDispose]());

const PASSWORD = "a good password";

const newAdmin = (workspace?: string) => newUser(keyAuth, "admin", workspace);

async function invite(admin: User, email = `${randomUUID()}@example.test`, role = Role.MANAGER) {
  const { invitation, path } = await keyAuth.members.createInvitation({ email, role }, admin);
  return { email, id: invitation?.id ?? "", path, token: tokenOf(path) };
}

async function makePasswordLink(admin: User) {
  const { userId } = await newAdmin(admin.workspace);
  const { path } = await keyAuth.members.createPasswordLink({ userId }, admin);
  return tokenOf(path);
}

function tokenOf(path: string): string {
  const token = path.split("#")[1] ?? "";
  expect(token).toMatch(/^[\w-]{43}$/);
  tokens.push(token);
  return token;
}

const accept = (token: string, password = PASSWORD) => keyAuth.members.acceptInvitation({ token, password });
const membershipsOf = async (email: string, password = PASSWORD) =>
  (await keyAuth.sessions().login({ email, password })).memberships;

test("[MGMT] an invited person chooses a password and has the role; the link works once", async () => {
  const admin = await newAdmin();
  const { token, email } = await invite(admin, `Ada-${randomUUID()}@Example.test`);
  expect(await keyAuth.members.getInvitation({ token })).toMatchObject({
    workspace: admin.workspace,
    email: email.toLowerCase(),
    role: Role.MANAGER,
    hasPassword: false,
  });
  expect(await codeOf(accept(token, "short"))).toBe(Code.InvalidArgument);
  const together = await Promise.all([codeOf(accept(token)), codeOf(accept(token, "another password"))]);
  expect(together.filter((code) => code === undefined)).toHaveLength(1);
  expect(await codeOf(keyAuth.members.getInvitation({ token }))).toBe(Code.NotFound);
  const password = together[0] === undefined ? PASSWORD : "another password";
  expect(await membershipsOf(email, password)).toMatchObject([{ workspace: admin.workspace, role: Role.MANAGER }]);
  const { entries } = await keyAuth.audit.listAuditEntries({}, keyAuth.as("admin", admin.workspaceId));
  expect(entries.map(({ action, actor }) => `${action} ${actor}`)).toEqual([
    `login.success ${email.toLowerCase()}`,
    `invitation.accept ${email.toLowerCase()}`,
    `invitation.create ${admin.email}`,
  ]);
});

test("[MGMT-4] whoever belongs to a workspace accepts with their own password: an invitation does not replace it", async () => {
  const [admin, other] = [await newAdmin(), await newAdmin()];
  const { token } = await invite(admin, other.email, Role.MEMBER);
  expect(await keyAuth.members.getInvitation({ token })).toMatchObject({ hasPassword: true });
  expect(await codeOf(accept(token, "a password that the inviter chose"))).toBe(Code.Unauthenticated);
  expect(await membershipsOf(other.email, other.password)).toHaveLength(1);
  await accept(token, other.password);
  expect(await membershipsOf(other.email, other.password)).toHaveLength(2);
});

test("[MGMT-4] somebody who was removed everywhere is invited again and chooses a new password, which ends the sessions of the old one", async () => {
  const admin = await newAdmin();
  const first = await invite(admin);
  await accept(first.token);
  const { members } = await keyAuth.members.listMembers({ search: first.email }, admin);
  await keyAuth.members.removeMember({ userId: members[0]?.userId ?? "" }, admin);
  const { token: old } = await keyAuth.sessions().login({ email: first.email, password: PASSWORD });
  const second = await invite(admin, first.email, Role.MEMBER);
  await accept(second.token, "another password");
  expect(await codeOf(keyAuth.sessions().authorize({ token: old, workspace: admin.workspace }))).toBe(
    Code.Unauthenticated,
  );
  const { entries } = await keyAuth.audit.listAuditEntries({}, keyAuth.as("admin", admin.workspaceId));
  const reset = entries.filter(({ action }) => action === "password.reset");
  expect(reset).toMatchObject([{ actor: first.email, target: first.email }]);
  expect(await membershipsOf(first.email, "another password")).toMatchObject([{ role: Role.MEMBER }]);
  expect(await codeOf(membershipsOf(first.email))).toBe(Code.Unauthenticated);
});

test("[MGMT-4] a link that was replaced or withdrawn, or has expired, is refused, and so is one of an admin who no longer is one", async () => {
  const admin = await newAdmin();
  const former = await newAdmin(admin.workspace);
  const replaced = await invite(admin);
  await invite(admin, replaced.email);
  const withdrawn = await invite(admin);
  await keyAuth.members.withdrawInvitation({ invitationId: withdrawn.id }, admin);
  const expired = await invite(admin);
  await keyAuth.pool.query("update key_auth.invitations set expires_at = now() where id = $1", [expired.id]);
  const byFormer = await invite(former, undefined, Role.ADMIN);
  await keyAuth.members.changeRole({ userId: former.userId, role: Role.MEMBER }, admin);
  for (const { token } of [replaced, withdrawn, expired, byFormer]) {
    expect(await codeOf(keyAuth.members.getInvitation({ token }))).toBe(Code.NotFound);
    expect(await codeOf(accept(token))).toBe(Code.NotFound);
  }
  const { invitations } = await keyAuth.members.listInvitations({}, admin);
  expect(invitations).toMatchObject([{ email: replaced.email, role: Role.MANAGER, createdBy: admin.email }]);
});

test("[MGMT] members, faulty addresses and more than 100 people cannot be invited", async () => {
  const admin = await newAdmin();
  expect(await codeOf(invite(admin, admin.email.toUpperCase()))).toBe(Code.AlreadyExists);
  expect(await codeOf(invite(admin, "nobody"))).toBe(Code.InvalidArgument);
  expect(await codeOf(invite(admin, undefined, Role.UNSPECIFIED))).toBe(Code.InvalidArgument);
  await keyAuth.pool.query(
    `insert into key_auth.invitations
       (id, workspace_id, email, role, token_hash, created_at, creator_id, creator, expires_at)
     select gen_random_uuid(), $1, n || '@example.test', 'member', sha256(gen_random_uuid()::text::bytea), now(), $2, 'a', now() + interval '1 day'
     from generate_series(1, 100) n`,
    [admin.workspaceId, admin.userId],
  );
  expect(await codeOf(invite(admin))).toBe(Code.ResourceExhausted);
});

test("[MGMT-4] tokens are stored as hashes, and guesses of them count as failed logins of the network", async () => {
  const admin = await newAdmin();
  const { token } = await invite(admin);
  const passwordToken = await makePasswordLink(admin);
  const stored = await keyAuth.pool.query(
    "select i::text as row from key_auth.invitations i union all select l::text from key_auth.password_links l",
  );
  const text = JSON.stringify(stored.rows);
  for (const secret of [token, passwordToken]) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(Buffer.from(secret, "base64url").toString("hex"));
  }
  const from = { headers: { [CLIENT_ADDRESS_HEADER]: `2001:db8:${randomUUID().slice(0, 4)}::1` } };
  const guess = () => codeOf(keyAuth.members.getInvitation({ token: randomUUID() }, from));
  for (let failure = 0; failure < MAX_FAILURES.network; failure += 1) expect(await guess()).toBe(Code.NotFound);
  expect(await guess()).toBe(Code.ResourceExhausted);
  expect(await codeOf(keyAuth.members.getInvitation({ token }, from))).toBe(Code.ResourceExhausted);
  expect(await codeOf(keyAuth.members.resetPassword({ token: "x", newPassword: PASSWORD }, from))).toBe(
    Code.ResourceExhausted,
  );
  expect(await codeOf(keyAuth.members.getInvitation({ token }))).toBeUndefined();
});

test("[MGMT-4] no link is ever in a log, not even when its use fails unexpectedly", async () => {
  const admin = await newAdmin();
  const { token } = await invite(admin);
  const passwordToken = await makePasswordLink(admin);
  const rename = (from: string, to: string) => keyAuth.pool.query(`alter table key_auth.${from} rename to ${to}`);
  for (const table of ["invitations", "password_links"]) await rename(table, `missing_${table}`);
  const reset = keyAuth.members.resetPassword({ token: passwordToken, newPassword: PASSWORD });
  const before = logged.length;
  const uses = [accept(token), keyAuth.members.getInvitation({ token }), reset];
  expect(await Promise.all(uses.map(codeOf))).toEqual(uses.map(() => Code.Internal));
  for (const table of ["invitations", "password_links"]) await rename(`missing_${table}`, table);
  await accept(token);
  await keyAuth.members.resetPassword({ token: passwordToken, newPassword: PASSWORD });
  const log = logged.join("");
  expect(
    logged
      .slice(before)
      .join("")
      .match(/"msg":"unexpected error"/g),
  ).toHaveLength(uses.length);
  const { rows } = await keyAuth.pool.query("select e::text as entry from key_auth.audit_entries e");
  const kept = [log, ...rows.map(({ entry }) => entry)].join("\n");
  for (const secret of tokens) expect(kept).not.toContain(secret);
});
