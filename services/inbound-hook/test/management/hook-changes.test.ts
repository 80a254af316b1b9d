import { Code } from "@connectrpc/connect";
import { createEpochs, epochKey } from "@toolgate/epoch/epoch";
import { connectRedis, untilReady } from "@toolgate/epoch/redis";
import { HookFormat } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { createSecretBox } from "@toolgate/secret-box/secret-box";
import { eventually } from "@toolgate/testbed/eventually";
import { refusal } from "@toolgate/testbed/rpc-errors";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sealingContext } from "../../src/domain/hook.ts";
import { type HookRig, startHookRig, type TestWorkspace } from "../hook-rig.ts";

let rig: HookRig;
let workspace: TestWorkspace;
let redis: ReturnType<typeof connectRedis>;
beforeAll(async () => {
  rig = await startHookRig({ instances: [["receiver"]] });
  workspace = await rig.newWorkspace();
  redis = connectRedis({ url: rig.redis.url, name: "test", onError: () => {} });
  await untilReady(redis, 60_000);
});
afterAll(async () => {
  redis?.disconnect();
  await rig?.[Symbol.asyncDispose]();
});

const NOT_FOUND = refusal(Code.NotFound, /^no such hook$/);
const stored = async (id: bigint) =>
  (await rig.pool.query("select * from inbound_hook.hook where id = $1", [id])).rows[0];
const epochOf = async (id: bigint) => BigInt((await redis.get(epochKey(`hook:${id}`))) ?? 0);
const openSecret = async (id: bigint) => {
  const { sealingKeys } = rig.config.receiver ?? { sealingKeys: [] };
  return createSecretBox({ keys: sealingKeys }).open((await stored(id)).secret, sealingContext(Number(id)));
};

test("[IN-2] [IN-7] [IN-8] an edit changes what it names and nothing else", async () => {
  const { id, hook } = await workspace.createHook();
  const args = { source: { case: "mapping", value: { pointers: { text: "/a" } } } } as const;
  const edits = [
    { name: "New name" },
    { limit: 7 },
    { toleranceSeconds: 3_600 },
    { active: false },
    { arguments: args },
  ];
  const expected = structuredClone({ ...hook });
  for (const [index, edit] of edits.entries()) {
    const { hook: after } = await workspace.hooks.updateHook({ hookId: id, ...edit });
    Object.assign(expected, edit, { version: index + 2, savedAt: after?.savedAt });
    expect(after).toMatchObject(expected);
  }
  expect((await workspace.hooks.getHook({ hookId: id })).hook).toMatchObject(expected);
});

test("[WMGMT] an edit keeps who saved it; one that changes nothing makes no new version", async () => {
  const source = { case: "mapping", value: { pointers: { text: "/b", count: "/a" } } } as const;
  const { id: hookId, hook } = await workspace.createHook({ arguments: { source } });
  expect(hook).toMatchObject({ version: 1, savedBy: "admin@example.test", savedAt: hook?.createdAt });
  const other = { source: { case: "mapping", value: { pointers: { count: "/a", text: "/b" } } } } as const;
  const same = await workspace.hooks.updateHook({ hookId, arguments: other, active: true });
  expect(same.hook?.version).toBe(1);
  const edited = await rig.as("manager", workspace).hooks.updateHook({ hookId, name: "Two" });
  expect(edited.hook).toMatchObject({ version: 2, savedBy: "manager@example.test" });
});

test("[WMGMT] an edit of an older version names who saved the newer one, and changes nothing", async () => {
  const { id: hookId } = await workspace.createHook();
  await rig.as("manager", workspace).hooks.updateHook({ hookId, name: "Theirs", expectedVersion: 1 });
  const late = workspace.hooks.updateHook({ hookId, name: "Ours", active: false, expectedVersion: 1 });
  await expect(late).rejects.toEqual(
    refusal(Code.Aborted, /^manager@example\.test saved version 2 at [-\d]+ [:\d]+ UTC, after you opened it$/),
  );
  const { hook } = await workspace.hooks.getHook({ hookId });
  expect(hook).toMatchObject({ name: "Theirs", active: true, version: 2 });
  // Without the version the last write wins.
  expect((await workspace.hooks.updateHook({ hookId, name: "Ours" })).hook).toMatchObject({ name: "Ours", version: 3 });
});

test("[IN-7] [IN-8] [AUTH-3] an edit with a bad field is refused and changes nothing", async () => {
  const { id, hook } = await workspace.createHook();
  for (const [edit, reason] of [
    [{ name: " " }, /^name: /],
    [{ limit: 0 }, /^limit: /],
    [{ toleranceSeconds: 59 }, /^tolerance_seconds: /],
    [{ arguments: { source: { case: "mapping", value: { pointers: { other: "/a" } } } } }, /not declared/],
  ] as const) {
    const refused = workspace.hooks.updateHook({ hookId: id, active: false, ...edit });
    await expect(refused).rejects.toEqual(refusal(Code.InvalidArgument, reason));
  }
  expect((await workspace.hooks.getHook({ hookId: id })).hook).toEqual(hook);
});

test("[AUTH-20] [AUTH-21] [WMGMT-7] rotation makes a new secret and shows it once, or takes that of the provider", async () => {
  const { id, secret } = await workspace.createHook();
  const rotated = await workspace.hooks.rotateHookSecret({ hookId: id });
  expect(rotated.secret).toMatch(/^whsec_/);
  expect(rotated.secret).not.toBe(secret);
  expect(await openSecret(id)).toBe(rotated.secret);
  const refused = workspace.hooks.rotateHookSecret({ hookId: id, providerSecret: "provider-secret" });
  await expect(refused).rejects.toEqual(refusal(Code.InvalidArgument, /^provider_secret: /));
  const shop = await workspace.createHook({ format: HookFormat.SHOP, providerSecret: "provider-secret" });
  const given = await workspace.hooks.rotateHookSecret({ hookId: shop.id, providerSecret: "another-secret" });
  expect([given.secret, await openSecret(shop.id)]).toEqual(["", "another-secret"]);
});

test("[WMGMT] a deleted hook no longer exists for callers, its secret is erased, and its row stays for the log", async () => {
  const { id: hookId } = await workspace.createHook();
  const { hooks } = workspace;
  await hooks.deleteHook({ hookId });
  await expect(hooks.getHook({ hookId })).rejects.toEqual(NOT_FOUND);
  await expect(hooks.updateHook({ hookId, active: true })).rejects.toEqual(NOT_FOUND);
  await expect(hooks.rotateHookSecret({ hookId })).rejects.toEqual(NOT_FOUND);
  expect((await hooks.listHooks({})).hooks.some(({ id }) => id === hookId)).toBe(false);
  const row = await stored(hookId);
  expect(row).toMatchObject({ active: false, secret: Buffer.alloc(0) });
  expect(row.deleted_at).toBeInstanceOf(Date);
});

test("[WMGMT] an id of another workspace gets not_found from every RPC, and changes nothing", async () => {
  const { id: hookId } = await workspace.createHook();
  const other = await rig.newWorkspace();
  const before = await stored(hookId);
  for (const id of [hookId, 0n, 1n, 2n ** 53n, 2n ** 64n - 1n]) {
    await expect(other.hooks.getHook({ hookId: id })).rejects.toEqual(NOT_FOUND);
    await expect(other.hooks.updateHook({ hookId: id, name: "taken" })).rejects.toEqual(NOT_FOUND);
    await expect(other.hooks.deleteHook({ hookId: id })).rejects.toEqual(NOT_FOUND);
    await expect(other.hooks.rotateHookSecret({ hookId: id })).rejects.toEqual(NOT_FOUND);
  }
  expect(await stored(hookId)).toEqual(before);
});

test("[WMGMT-2] [WMGMT-3] [WMGMT-4] managers and admins manage hooks, members do not", async () => {
  for (const role of ["manager", "admin"] as const) await rig.as(role, workspace).hooks.listHooks({});
  const member = rig.as("member", workspace).hooks;
  await expect(member.listHooks({})).rejects.toEqual(refusal(Code.PermissionDenied, /role/));
  await expect(member.createHook({})).rejects.toEqual(refusal(Code.PermissionDenied, /role/));
});

test("[WMGMT] creating, editing, deactivating, rotating and deleting a hook are audited, without values", async () => {
  const own = await rig.newWorkspace();
  const { id: hookId, secret, url } = await own.createHook({ name: "Audited" });
  const { hooks } = own;
  await hooks.updateHook({ hookId, name: "Renamed", limit: 5, toleranceSeconds: 100 });
  await hooks.updateHook({ hookId, name: "Renamed" });
  await hooks.updateHook({ hookId, active: false });
  await hooks.updateHook({ hookId, active: true });
  const rotated = await hooks.rotateHookSecret({ hookId });
  await hooks.deleteHook({ hookId });
  await hooks.deleteHook({ hookId });
  const entries = await eventually(async () => {
    const listed = (await own.audit.listAuditEntries({})).entries.filter(({ action }) => action.startsWith("hook."));
    return listed.some(({ action }) => action === "hook.delete") && listed.toReversed();
  });
  expect(entries.map(({ action, target, changes }) => [action, target, changes.map(({ field }) => field)])).toEqual([
    ["hook.create", "Audited", []],
    ["hook.edit", "Renamed", ["name", "limit", "toleranceSeconds"]],
    ["hook.deactivate", "Renamed", ["active"]],
    ["hook.activate", "Renamed", ["active"]],
    ["hook.rotate", "Renamed", []],
    ["hook.delete", "Renamed", []],
  ]);
  const text = JSON.stringify(entries, (_, value) => (typeof value === "bigint" ? String(value) : value));
  for (const secretText of [secret, rotated.secret, url.slice(-32)]) expect(text).not.toContain(secretText);
  expect(entries.every(({ targetId }) => targetId === String(hookId))).toBe(true);
});

test("[WMGMT] without Redis a change is stored, but says that it is not propagated yet; a retry propagates it", async () => {
  const { id: hookId, secret } = await workspace.createHook();
  const { id: gone } = await workspace.createHook();
  const before = await epochOf(hookId);
  const { hooks } = workspace;
  await rig.redis.stop();
  try {
    const unconfirmed = refusal(Code.Unavailable, /^saved, not yet propagated; retry$/);
    await expect(hooks.updateHook({ hookId, active: false })).rejects.toEqual(unconfirmed);
    expect((await stored(hookId)).active).toBe(false);
    await expect(hooks.deleteHook({ hookId: gone })).rejects.toEqual(unconfirmed);
    expect((await stored(gone)).deleted_at).toBeInstanceOf(Date);
    await expect(hooks.rotateHookSecret({ hookId })).rejects.toEqual(refusal(Code.Unavailable, /^not rotated/));
    expect(await openSecret(hookId)).toBe(secret);
  } finally {
    await rig.redis.restart();
  }
  await eventually(() => hooks.updateHook({ hookId, active: false }));
  await eventually(() => hooks.deleteHook({ hookId: gone }));
  // The connection of the test may take longer to come back than that of the service.
  await eventually(() => createEpochs(redis).raise("test"));
  expect(await epochOf(hookId)).toBeGreaterThan(before);
});
