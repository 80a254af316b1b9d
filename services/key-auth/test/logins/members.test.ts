import { Code, ConnectError } from "@connectrpc/connect";
import { Role } from "@toolgate/gen/toolgate/key_auth/v1/session_pb";
import { inTransaction } from "@toolgate/postgres/pool";
import type { MemberRole } from "@toolgate/service-host/principal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { changeRole } from "../../src/members/change-role.ts";
import { provision } from "../../src/operator/provision.ts";
import { codeOf, newUser, type RunningKeyAuth, runKeyAuth, type User, untilBlocked } from "../running-key-auth.ts";

let keyAuth: RunningKeyAuth;
beforeAll(async () => {
  keyAuth = await runKeyAuth({ replicas: 2 });
});
afterAll(() => keyAuth[Symbol.asyncDispose]());

const addUser = (role: MemberRole, workspace?: string) => newUser(keyAuth, role, workspace);
const sessionOf = ({ email, password }: User) => keyAuth.sessions().login({ email, password });
const mayUse = async ({ token }: { token: string }, { workspace }: User) =>
  codeOf(keyAuth.sessions(1).authorize({ token, workspace }));
const tokenIn = (path: string) => path.split("#")[1] ?? "";

async function actionsOf({ workspaceId }: User): Promise<string[]> {
  const { entries } = await keyAuth.audit.listAuditEntries({}, keyAuth.as("admin", workspaceId));
  return entries
    .filter(({ action }) => !action.startsWith("login."))
    .map(({ action, actor, target }) => `${action} ${actor} ${target}`);
}

test("[MGMT] members are listed by email address, page by page, with role and open sessions", async () => {
  const admin = await addUser("admin");
  const member = await addUser("member", admin.workspace);
  await sessionOf(member);
  const first = await keyAuth.members.listMembers({ pageSize: 1 }, admin);
  const second = await keyAuth.members.listMembers({ pageSize: 1, pageToken: first.nextPageToken }, admin);
  expect([...first.members, ...second.members]).toMatchObject([
    { userId: admin.userId, email: admin.email, role: Role.ADMIN, sessions: 0 },
    { userId: member.userId, email: member.email, role: Role.MEMBER, sessions: 1 },
  ]);
  expect(second.nextPageToken).toBe("");
  expect(second.members[0]?.lastUsedAt).toBeDefined();
  const found = await keyAuth.members.listMembers({ search: member.email.slice(3, 20).toUpperCase() }, admin);
  expect(found.members.map(({ userId }) => userId)).toEqual([member.userId]);
});

test("[MGMT-4] a changed role and a removal take effect with the next call on every replica, and a removal ends all sessions", async () => {
  const admin = await addUser("admin");
  const member = await addUser("member", admin.workspace);
  const session = await sessionOf(member);
  await keyAuth.members.changeRole({ userId: member.userId, role: Role.MANAGER }, admin);
  const { role } = await keyAuth.sessions(1).authorize({ token: session.token, workspace: admin.workspace });
  expect(role).toBe(Role.MANAGER);
  expect(await codeOf(keyAuth.members.changeRole({ userId: member.userId }, admin))).toBe(Code.InvalidArgument);
  await keyAuth.members.removeMember({ userId: member.userId }, admin);
  expect(await mayUse(session, admin)).toBe(Code.Unauthenticated);
  expect(await codeOf(keyAuth.members.removeMember({ userId: member.userId }, admin))).toBe(Code.NotFound);
  expect(await actionsOf(admin)).toEqual([
    `role.remove ${admin.email} ${member.email}`,
    `role.set ${admin.email} ${member.email}`,
  ]);
});

test("[MGMT-3] a workspace keeps an admin, also when two admins give the role up at the same time", async () => {
  const [one, workspace] = await addUser("admin").then((user) => [user, user.workspace] as const);
  expect(await codeOf(keyAuth.members.removeMember({ userId: one.userId }, one))).toBe(Code.FailedPrecondition);
  const other = await addUser("admin", workspace);
  // Both wait until their transactions could begin together.
  const client = await keyAuth.pool.connect();
  await client.query("begin; select from key_auth.workspaces for update");
  const outcomes = Promise.all([
    codeOf(keyAuth.members.changeRole({ userId: one.userId, role: Role.MEMBER }, one)),
    codeOf(keyAuth.members.removeMember({ userId: other.userId }, other)),
  ]);
  await untilBlocked(keyAuth.pool);
  await client.query("commit");
  client.release();
  expect((await outcomes).toSorted()).toEqual([Code.FailedPrecondition, undefined].toSorted());
  const { members } = await keyAuth.members.listMembers({}, one);
  expect(members.filter(({ role }) => role === Role.ADMIN)).toHaveLength(1);
});

test("[MGMT-4] only admins manage members, and only those of their own workspace", async () => {
  const admin = await addUser("admin");
  const stranger = await addUser("admin");
  const { invitation } = await keyAuth.members.createInvitation(
    { email: "ada@example.test", role: Role.MEMBER },
    admin,
  );
  const codesOf = (...calls: Promise<unknown>[]) => Promise.all(calls.map(codeOf));
  const manage = (user: User, userId = admin.userId) =>
    codesOf(
      keyAuth.members.changeRole({ userId, role: Role.MEMBER }, user),
      keyAuth.members.removeMember({ userId }, user),
      keyAuth.members.endMemberSessions({ userId }, user),
      keyAuth.members.createPasswordLink({ userId }, user),
      keyAuth.members.withdrawInvitation({ invitationId: invitation?.id ?? "" }, user),
    );
  const open = (user: User) =>
    codesOf(
      keyAuth.members.listMembers({}, user),
      keyAuth.members.listInvitations({}, user),
      keyAuth.members.createInvitation({ email: "grace@example.test", role: Role.ADMIN }, user),
    );
  for (const role of ["member", "manager"] as const) {
    const user = await addUser(role, admin.workspace);
    const refused = [...(await manage(user)), ...(await open(user))];
    expect(new Set(refused)).toEqual(new Set([Code.PermissionDenied]));
  }
  expect(new Set(await manage(stranger))).toEqual(new Set([Code.NotFound]));
  expect(new Set(await manage(stranger, "x"))).toEqual(new Set([Code.NotFound]));
  expect((await keyAuth.members.listInvitations({}, stranger)).invitations).toEqual([]);
  expect((await keyAuth.members.listInvitations({}, admin)).invitations).toHaveLength(1);
});

test("[MGMT-4] an admin ends a member's sessions at once; the member can log in again", async () => {
  const admin = await addUser("admin");
  const member = await addUser("member", admin.workspace);
  const sessions = [await sessionOf(member), await sessionOf(member)];
  expect(await keyAuth.members.endMemberSessions({ userId: member.userId }, admin)).toMatchObject({ ended: 2 });
  for (const session of sessions) expect(await mayUse(session, admin)).toBe(Code.Unauthenticated);
  expect(await mayUse(await sessionOf(member), admin)).toBeUndefined();
  expect((await actionsOf(admin))[0]).toBe(`session.end ${admin.email} ${member.email}`);
});

test("[MGMT-4] a password link works once, for a day, and until the next one or a change of the role", async () => {
  const admin = await addUser("admin");
  const member = await addUser("member", admin.workspace);
  const before = await sessionOf(member);
  const link = async () => tokenIn((await keyAuth.members.createPasswordLink({ userId: member.userId }, admin)).path);
  const reset = (token: string, newPassword = "another password") =>
    codeOf(keyAuth.members.resetPassword({ token, newPassword }));
  const replaced = await link();
  const token = await link();
  expect(await reset(replaced)).toBe(Code.NotFound);
  expect(await reset(token, "short")).toBe(Code.InvalidArgument);
  const together = await Promise.all([reset(token), reset(token)]);
  expect(together.toSorted()).toEqual([Code.NotFound, undefined].toSorted());
  expect(await mayUse(before, admin)).toBe(Code.Unauthenticated);
  expect(await codeOf(sessionOf(member))).toBe(Code.Unauthenticated);
  expect(await codeOf(sessionOf({ ...member, password: "another password" }))).toBeUndefined();
  expect((await actionsOf(admin)).slice(0, 3)).toEqual([
    `password.reset ${member.email} ${member.email}`,
    ...Array(2).fill(`password.link ${admin.email} ${member.email}`),
  ]);
  const outlived = await link();
  await keyAuth.members.changeRole({ userId: member.userId, role: Role.MANAGER }, admin);
  expect(await reset(outlived)).toBe(Code.NotFound);
  const expired = await link();
  await keyAuth.pool.query("update key_auth.password_links set expires_at = now() - interval '1 second'");
  expect(await reset(expired)).toBe(Code.NotFound);
});

test("[MGMT-4] a password link opens nothing that the admin does not manage, and not the admin's own account", async () => {
  const admin = await addUser("admin");
  const elsewhere = await addUser("admin");
  const shared = await addUser("member", admin.workspace);
  await provision(keyAuth.pool, { ...shared, workspace: elsewhere.workspace, role: "manager" });
  const refused = await keyAuth.members.createPasswordLink({ userId: shared.userId }, admin).catch(ConnectError.from);
  expect(refused).toMatchObject({ code: Code.FailedPrecondition });
  const own = await keyAuth.members.createPasswordLink({ userId: admin.userId }, admin).catch(ConnectError.from);
  expect(own).toMatchObject({ rawMessage: "change your own password at Your account", code: Code.FailedPrecondition });
  expect((await actionsOf(admin)).join()).not.toContain("password.link");
});

test("[MGMT-4] an admin whose role is being taken makes no link, in this workspace or for a member of another one", async () => {
  const admin = await addUser("admin");
  const former = await addUser("admin", admin.workspace);
  const { userId } = await addUser("member", admin.workspace);
  const elsewhere = await addUser("admin");
  const shared = await addUser("member", admin.workspace);
  await provision(keyAuth.pool, { ...former, workspace: elsewhere.workspace });
  await provision(keyAuth.pool, { ...shared, workspace: elsewhere.workspace });
  /** The code of a call that begins before the role of `former` is taken, and ends after. */
  const whileDemoted = async ({ workspaceId }: User, call: () => Promise<unknown>) => {
    const role = { user: { id: former.userId, email: former.email }, role: "member", at: new Date() } as const;
    const { code } = await inTransaction(keyAuth.pool, async (client) => {
      await changeRole(client, { workspaceId, ...role, actor: { id: admin.userId, name: admin.email } });
      const pending = codeOf(call());
      await untilBlocked(keyAuth.pool);
      return { code: pending };
    });
    await provision(keyAuth.pool, { ...former, workspace: admin.workspace });
    return code;
  };
  const link = (of: string) => keyAuth.members.createPasswordLink({ userId: of }, former);
  const invite = () => keyAuth.members.createInvitation({ email: "ada@example.test", role: Role.ADMIN }, former);
  expect(await whileDemoted(admin, invite)).toBe(Code.PermissionDenied);
  expect(await whileDemoted(admin, () => link(userId))).toBe(Code.PermissionDenied);
  expect(await codeOf(link(shared.userId))).toBeUndefined();
  expect(await whileDemoted(elsewhere, () => link(shared.userId))).toBe(Code.FailedPrecondition);
});
