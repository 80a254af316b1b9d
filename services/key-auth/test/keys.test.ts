import { Code } from "@connectrpc/connect";
import { KeyStatus } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { provision } from "../src/operator/provision.ts";
import { MAX_KEYS } from "../src/store/keys.ts";
import { account, codeOf, type RunningKeyAuth, runKeyAuth } from "./running-key-auth.ts";
import { columnsContaining } from "./stored-secrets.ts";

let keyAuth: RunningKeyAuth;
beforeAll(async () => {
  keyAuth = await runKeyAuth();
});
afterAll(() => keyAuth[Symbol.asyncDispose]());

test.each(["a\0b", "a\nb", "a\u001b[2Jb", "a\u202eb"])(
  "[KEY-1] the name %j is refused, new or changed",
  async (name) => {
    const keys = keyAuth.keys();
    const refused = { code: Code.InvalidArgument, rawMessage: "name: must not contain control characters" };
    await expect(keys.createKey({ name }, keyAuth.as("manager"))).rejects.toMatchObject(refused);
    const { key } = await keys.createKey({ name: "k" }, keyAuth.as("manager"));
    await expect(keys.updateKey({ keyId: key?.id ?? "", name }, keyAuth.as("manager"))).rejects.toMatchObject(refused);
  },
);

test("[KEY-3] [KEY-4] the limit of a new key is 60 unless one is given", async () => {
  const { key: usual } = await keyAuth.keys().createKey({ name: "k" }, keyAuth.as("manager"));
  const { key: given } = await keyAuth.keys().createKey({ name: "k", limit: 7 }, keyAuth.as("manager"));
  expect([usual?.limit, given?.limit]).toEqual([60, 7]);
});

test("[KEY-14] [KEY-15] [KEY-16] the secret starts with svc_live_, is in the first response only, and is not stored", async () => {
  const { key, secret } = await keyAuth.keys().createKey({ name: "k" }, keyAuth.as("manager"));
  expect(secret).toMatch(/^svc_live_/);
  expect(secret.startsWith(key?.prefix ?? "-")).toBe(true);
  const { key: again } = await keyAuth.keys().getKey({ keyId: key?.id ?? "" }, keyAuth.as("admin"));
  expect(JSON.stringify(again, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toContain(
    secret,
  );
  expect(await columnsContaining(keyAuth.pool, [secret])).toEqual([]);
});

test("[KEY-5] limits from 1 to 10000 are accepted, others refused", async () => {
  for (const limit of [1, 10_000]) {
    expect(await codeOf(keyAuth.keys().createKey({ name: "k", limit }, keyAuth.as("manager")))).toBeUndefined();
  }
  for (const limit of [0, 10_001, 4_294_967_295]) {
    expect(await codeOf(keyAuth.keys().createKey({ name: "k", limit }, keyAuth.as("manager")))).toBe(
      Code.InvalidArgument,
    );
  }
});

test("[KEY-2] a tool that is not released cannot be added to a key, but may stay in its list", async () => {
  const refused = keyAuth.keys().createKey({ name: "k", tools: ["echo", "nowhere"] }, keyAuth.as("manager"));
  await expect(refused).rejects.toThrow("nowhere");
  const { key } = await keyAuth.keys().createKey({ name: "k", tools: ["echo"] }, keyAuth.as("manager"));
  await keyAuth.pool.query("update key_auth.keys set tools = '{gone}' where id = $1", [key?.id]);
  const edited = await keyAuth
    .keys()
    .updateKey({ keyId: key?.id ?? "", tools: { names: ["gone", "lookup"] } }, keyAuth.as("manager"));
  expect(edited.key?.tools).toEqual(["gone", "lookup"]);
});

/** Sets the date on which a key expires, or clears it. */
const expire = (keyId: string, date: string | undefined) =>
  keyAuth
    .keys()
    .updateKey(
      { keyId, expiry: { at: date ? { case: "date", value: date } : { case: undefined } } },
      keyAuth.as("manager"),
    );

test("[KEY-8] [KEY-23] [ERR-8] a key whose expiry date has passed is expired and refused", async () => {
  const { key, secret } = await keyAuth.keys().createKey({ name: "k" }, keyAuth.as("manager"));
  expect(await keyAuth.verify(secret)).toBeDefined();
  expect((await expire(key?.id ?? "", "2020-01-31")).key?.status).toBe(KeyStatus.EXPIRED);
  expect(await keyAuth.verify(secret)).toBeUndefined();
});

test("[MGMT-9] [MGMT-11] of two edits of the same version only the first is saved, and the other learns by whom", async () => {
  const { key: opened } = await keyAuth.keys().createKey({ name: "first", limit: 7 }, keyAuth.as("manager"));
  const keyId = opened?.id ?? "";
  expect(opened).toMatchObject({ version: 1, savedBy: "manager@example.test" });
  const edit = (request: { name?: string; limit?: number; expectedVersion?: number }, role: "manager" | "admin") =>
    keyAuth.keys().updateKey({ keyId, ...request }, keyAuth.as(role));
  const shown = async () => (await keyAuth.keys().getKey({ keyId }, keyAuth.as("manager"))).key;
  const { key: saved } = await edit({ limit: 8, expectedVersion: 1 }, "admin");
  expect(saved).toMatchObject({ limit: 8, version: 2, savedBy: "admin@example.test" });
  await expect(edit({ name: "second", limit: 9, expectedVersion: 1 }, "manager")).rejects.toMatchObject({
    code: Code.Aborted,
    rawMessage: expect.stringMatching(/^admin@example\.test saved version 2 at .* UTC, after you opened it$/),
  });
  expect(await shown()).toMatchObject({ name: "first", limit: 8, version: 2, savedAt: saved?.savedAt });
  await edit({ name: "second", limit: 9, expectedVersion: 2 }, "manager");
  await edit({ limit: 10 }, "manager");
  await keyAuth.keys().rotateKey({ keyId }, keyAuth.as("admin"));
  expect(await shown()).toMatchObject({ name: "second", limit: 10, version: 4, savedBy: "manager@example.test" });
});

test("[KEY-6] [MGMT-12] a key works again once its expiry date is moved or cleared", async () => {
  const { key, secret } = await keyAuth.keys().createKey({ name: "k" }, keyAuth.as("manager"));
  for (const date of ["2999-12-31", undefined]) {
    await expire(key?.id ?? "", "2020-01-31");
    expect((await expire(key?.id ?? "", date)).key?.status).toBe(KeyStatus.ACTIVE);
    expect(await keyAuth.verify(secret)).toBeDefined();
  }
});

test("[KEY-20] [KEY-22] a key can be revoked twice, stays in the list as revoked and cannot be edited", async () => {
  const { key } = await keyAuth.keys().createKey({ name: "k" }, keyAuth.as("manager"));
  const keyId = key?.id ?? "";
  const first = await keyAuth.keys().revokeKey({ keyId }, keyAuth.as("manager"));
  const second = await keyAuth.keys().revokeKey({ keyId }, keyAuth.as("manager"));
  expect(second.key?.revokedAt).toEqual(first.key?.revokedAt);
  const listed = await keyAuth.keys().listKeys({ pageSize: 100 }, keyAuth.as("manager"));
  expect(listed.keys.find(({ id }) => id === keyId)?.status).toBe(KeyStatus.REVOKED);
  expect(await codeOf(keyAuth.keys().updateKey({ keyId, name: "x" }, keyAuth.as("manager")))).toBe(
    Code.FailedPrecondition,
  );
});

test("[MGMT-2] [MGMT-3] [MGMT-4] managers and admins can manage keys, members and anonymous callers cannot", async () => {
  expect(await codeOf(keyAuth.keys().listKeys({}, keyAuth.as("manager")))).toBeUndefined();
  expect(await codeOf(keyAuth.keys().listKeys({}, keyAuth.as("admin")))).toBeUndefined();
  expect(await codeOf(keyAuth.keys().listKeys({}, keyAuth.as("member")))).toBe(Code.PermissionDenied);
  expect(await codeOf(keyAuth.keys().listKeys({}))).toBe(Code.Unauthenticated);
});

test("[KEY-19] [MGMT] every RPC refuses a key of another workspace with not_found", async () => {
  const { key } = await keyAuth.keys().createKey({ name: "k" }, keyAuth.as("manager"));
  const other = await provision(keyAuth.pool, account("other@example.test", "admin"));
  const stranger = keyAuth.as("admin", other.workspaceId);
  const keyId = key?.id ?? "";
  expect(await codeOf(keyAuth.keys().getKey({ keyId }, stranger))).toBe(Code.NotFound);
  expect(await codeOf(keyAuth.keys().updateKey({ keyId, name: "x" }, stranger))).toBe(Code.NotFound);
  expect(await codeOf(keyAuth.keys().revokeKey({ keyId }, stranger))).toBe(Code.NotFound);
  expect(await codeOf(keyAuth.keys().rotateKey({ keyId }, stranger))).toBe(Code.NotFound);
  expect(await codeOf(keyAuth.keys().listKeyCalls({ keyId }, stranger))).toBe(Code.NotFound);
  expect(await codeOf(keyAuth.keys().getKey({ keyId: "no uuid" }, stranger))).toBe(Code.NotFound);
  expect((await keyAuth.keys().listKeys({}, stranger)).keys).toEqual([]);
});

test("[KEY-18] [KEY-19] [KEY-2] a verdict names the key's workspace and tells whether the key lists the tool", async () => {
  const here = await keyAuth.keys().createKey({ name: "here", tools: ["echo"] }, keyAuth.as("manager"));
  const other = await provision(keyAuth.pool, account("elsewhere@example.test", "admin"));
  const there = await keyAuth.keys().createKey({ name: "there" }, keyAuth.as("admin", other.workspaceId));
  expect(await keyAuth.verify(here.secret, { tool: "echo" })).toMatchObject({
    workspaceId: keyAuth.workspaceId,
    toolListed: true,
  });
  expect(await keyAuth.verify(here.secret, { tool: "lookup" })).toMatchObject({ toolListed: false });
  expect(await keyAuth.verify(there.secret, { tool: "echo" })).toMatchObject({
    workspaceId: other.workspaceId,
    toolListed: false,
  });
});

test("[KEY-1] [KEY-2] [MGMT-6] [MGMT-7] [MGMT-8] a new key has the name, the tools and the limit that were given", async () => {
  const request = { name: "first", tools: ["echo"], limit: 7 };
  const { key } = await keyAuth.keys().createKey(request, keyAuth.as("manager"));
  const shown = await keyAuth.keys().getKey({ keyId: key?.id ?? "" }, keyAuth.as("manager"));
  for (const found of [key, shown.key]) expect(found).toMatchObject(request);
});

test("[MGMT-9] [MGMT-10] [MGMT-11] name, tools and limit can be changed one by one", async () => {
  const who = keyAuth.as("manager");
  const created = await keyAuth.keys().createKey({ name: "first", tools: ["echo"], limit: 7 }, who);
  const keyId = created.key?.id ?? "";
  const shown = async () => (await keyAuth.keys().getKey({ keyId }, who)).key;
  await keyAuth.keys().updateKey({ keyId, name: "second" }, who);
  expect(await shown()).toMatchObject({ name: "second", tools: ["echo"], limit: 7 });
  await keyAuth.keys().updateKey({ keyId, tools: { names: ["lookup"] } }, who);
  expect(await shown()).toMatchObject({ name: "second", tools: ["lookup"], limit: 7 });
  await keyAuth.keys().updateKey({ keyId, limit: 8 }, who);
  expect(await shown()).toMatchObject({ name: "second", tools: ["lookup"], limit: 8 });
});

test("[KEY-6] [MGMT-12] the expiry can be given as a date or as a time, and no other edit changes it", async () => {
  const who = keyAuth.as("manager");
  const expiry = { at: { case: "date" as const, value: "2999-12-31" } };
  const { key: created } = await keyAuth.keys().createKey({ name: "k", expiry }, who);
  const keyId = created?.id ?? "";
  const endOfDay = { seconds: BigInt(Date.parse("3000-01-01T00:00:00Z") / 1000) };
  expect(created?.expiresAt).toMatchObject(endOfDay);
  await keyAuth.keys().updateKey({ keyId, name: "second" }, who);
  const renamed = await keyAuth.keys().getKey({ keyId }, who);
  expect(renamed.key?.expiresAt).toMatchObject(endOfDay);
  const at = { case: "timestamp" as const, value: { seconds: 33_000_000_000n, nanos: 0 } };
  await keyAuth.keys().updateKey({ keyId, expiry: { at } }, who);
  const moved = await keyAuth.keys().getKey({ keyId }, who);
  expect(moved.key).toMatchObject({ name: "second", expiresAt: { seconds: 33_000_000_000n } });
});

test("[KEY-7] [MGMT-5] [MGMT-14] the list shows the prefix of each key", async () => {
  const { workspaceId } = await provision(keyAuth.pool, account("prefix@example.test", "admin"));
  const who = keyAuth.as("manager", workspaceId);
  const { key, secret } = await keyAuth.keys().createKey({ name: "k" }, who);
  const { keys } = await keyAuth.keys().listKeys({}, who);
  expect(keys).toMatchObject([{ id: key?.id, prefix: secret.slice(0, "svc_live_".length + 6) }]);
});

test("[KEY-9] [MGMT-15] [MGMT-17] the list shows status, last use and total of each key", async () => {
  const { workspaceId } = await provision(keyAuth.pool, account("shown@example.test", "admin"));
  const who = keyAuth.as("manager", workspaceId);
  const { key } = await keyAuth.keys().createKey({ name: "k" }, who);
  await keyAuth.pool.query(
    "update key_auth.keys set calls_total = 42, last_used_at = '2026-11-21T12:00:00Z' where id = $1",
    [key?.id],
  );
  const { keys } = await keyAuth.keys().listKeys({}, who);
  const lastUsedAt = { seconds: BigInt(Date.parse("2026-11-21T12:00:00Z") / 1000) };
  expect(keys).toMatchObject([{ id: key?.id, status: KeyStatus.ACTIVE, callsTotal: 42n, lastUsedAt }]);
});

test("[KEY-21] [MGMT-13] a revoked key is refused from the next call on", async () => {
  const { key, secret } = await keyAuth.keys().createKey({ name: "k" }, keyAuth.as("manager"));
  expect(await keyAuth.verify(secret)).toBeDefined();
  const { key: revoked } = await keyAuth.keys().revokeKey({ keyId: key?.id ?? "" }, keyAuth.as("manager"));
  expect(revoked?.status).toBe(KeyStatus.REVOKED);
  expect(await keyAuth.verify(secret)).toBeUndefined();
});

test("[FAIR] a workspace has a limited number of keys, revoked ones included: one more is refused, others are not affected", async () => {
  const { workspaceId } = await provision(keyAuth.pool, account("full@example.test", "manager"));
  const manager = keyAuth.as("manager", workspaceId);
  await keyAuth.pool.query(
    `insert into key_auth.keys (id, workspace_id, name, secret_hash, prefix, tools, call_limit, revoked_at, created_by)
     select gen_random_uuid(), $1, 'n' || n, sha256(convert_to('full ' || n, 'UTF8')), 'svc_live_full', '{}', 60,
       case when n % 2 = 0 then now() end, 'x'
     from generate_series(2, $2::int) n`,
    [workspaceId, MAX_KEYS],
  );
  const keys = Array.from({ length: 8 }, () => codeOf(keyAuth.keys().createKey({ name: "last" }, manager)));
  const refusals = (await Promise.all(keys)).filter((code) => code !== undefined);
  expect(refusals).toEqual(Array(7).fill(Code.ResourceExhausted));
  const refused = keyAuth.keys().createKey({ name: "more" }, manager);
  await expect(refused).rejects.toMatchObject({
    code: Code.ResourceExhausted,
    rawMessage: "a workspace has at most 10000 keys, revoked ones included",
  });
  const [last] = (await keyAuth.keys().listKeys({ search: "last" }, manager)).keys;
  await keyAuth.keys().revokeKey({ keyId: last?.id ?? "" }, manager);
  expect(await codeOf(keyAuth.keys().createKey({ name: "more" }, manager))).toBe(Code.ResourceExhausted);
  await keyAuth.keys().createKey({ name: "other" }, keyAuth.as("manager"));
});
