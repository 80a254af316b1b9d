import { Code } from "@connectrpc/connect";
import { KeyStatus } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MAX_KEYS } from "../../src/store/keys.ts";
import { codeOf, newUser, type RunningKeyAuth, runKeyAuth, untilBlocked } from "../running-key-auth.ts";
import { tablesContaining } from "./stored-secrets.ts";

let keyAuth: RunningKeyAuth;
beforeAll(async () => {
  keyAuth = await runKeyAuth();
});
afterAll(() => keyAuth[Symbol.asyncDispose]());

const shown = async (keyId: string) => (await keyAuth.keys().getKey({ keyId }, keyAuth.as("manager"))).key;

test.each(["a\0b", "a\nb", "a\u001b[2Jb", "a\u202eb"])(
  "[KEY-1] the name %j is refused, new or changed",
  async (name) => {
    const refused = { code: Code.InvalidArgument, rawMessage: "name: must not contain control characters" };
    await expect(keyAuth.newKey({ name })).rejects.toMatchObject(refused);
    const { keyId } = await keyAuth.newKey();
    const renamed = keyAuth.keys().updateKey({ keyId, name }, keyAuth.as("manager"));
    await expect(renamed).rejects.toMatchObject(refused);
  },
);

test("[KEY-1] [KEY-2] [KEY-3] [KEY-4] [MGMT-6] [MGMT-7] [MGMT-8] a new key has the name, tools and limit that were given; its limit is 60 otherwise", async () => {
  const request = { name: "first", tools: ["echo"], limit: 7 };
  const { key, keyId } = await keyAuth.newKey(request);
  for (const found of [key, await shown(keyId)]) expect(found).toMatchObject(request);
  expect((await keyAuth.newKey()).key.limit).toBe(60);
});

test("[KEY-5] limits from 1 to 10000 are accepted, others refused", async () => {
  for (const limit of [1, 10_000]) expect(await codeOf(keyAuth.newKey({ limit }))).toBeUndefined();
  for (const limit of [0, 10_001, 4_294_967_295])
    expect(await codeOf(keyAuth.newKey({ limit }))).toBe(Code.InvalidArgument);
});

test("[KEY-14] [KEY-15] [KEY-16] secrets start with svc_live_, are in one response only, are cached by nobody, and are not stored", async () => {
  const { key, keyId, secret } = await keyAuth.newKey();
  expect(secret).toMatch(/^svc_live_/);
  expect(secret.startsWith(key.prefix)).toBe(true);
  let caching: string | null = "";
  const { secret: rotated } = await keyAuth.keys().rotateKey(
    { keyId, overlapSeconds: 60 },
    {
      ...keyAuth.as("manager"),
      onHeader(headers) {
        caching = headers.get("cache-control");
      },
    },
  );
  expect(caching).toBe("no-store");
  const again = JSON.stringify(await shown(keyId), (_, value) => (typeof value === "bigint" ? String(value) : value));
  for (const each of [secret, rotated]) expect(again).not.toContain(each);
  expect(await tablesContaining(keyAuth.pool, [secret, rotated])).toEqual([]);
});

test("all that the response to an edit shows is read before the edit, because the response must not fail after it", async () => {
  const { keyId } = await keyAuth.newKey({ tools: ["echo"] });
  const locker = await keyAuth.pool.connect();
  await locker.query("begin");
  await locker.query("select 1 from key_auth.keys where id = $1 for update", [keyId]);
  keyAuth.toolRunner.checked.length = 0;
  const edited = keyAuth.keys().updateKey({ keyId, name: "renamed" }, keyAuth.as("manager"));
  await untilBlocked(keyAuth.pool);
  expect(keyAuth.toolRunner.checked).toEqual([["echo"]]);
  keyAuth.toolRunner.checked.length = 0;
  await locker.query("commit");
  locker.release();
  expect((await edited).key?.name).toBe("renamed");
  expect(keyAuth.toolRunner.checked).toEqual([]);
});

test("[KEY-2] a tool that is not released cannot be added to a key, but may stay in its list", async () => {
  await expect(keyAuth.newKey({ tools: ["echo", "nowhere"] })).rejects.toThrow("nowhere");
  const { keyId } = await keyAuth.newKey({ tools: ["echo"] });
  await keyAuth.pool.query("update key_auth.keys set tools = '{gone}' where id = $1", [keyId]);
  const tools = { names: ["gone", "lookup"] };
  const edited = await keyAuth.keys().updateKey({ keyId, tools }, keyAuth.as("manager"));
  expect(edited.key?.tools).toEqual(["gone", "lookup"]);
});

test("[MGMT-9] [MGMT-10] [MGMT-11] fields are changed one by one; of two edits of a version the first is saved", async () => {
  const { keyId, key: opened } = await keyAuth.newKey({ name: "first", tools: ["echo"], limit: 7 });
  expect(opened).toMatchObject({ version: 1, savedBy: "manager@example.test" });
  const edit = (request: object, role: "manager" | "admin" = "manager") =>
    keyAuth.keys().updateKey({ keyId, ...request }, keyAuth.as(role));
  const { key: saved } = await edit({ limit: 8, expectedVersion: 1 }, "admin");
  expect(saved).toMatchObject({ limit: 8, version: 2, savedBy: "admin@example.test" });
  await expect(edit({ name: "second", limit: 9, expectedVersion: 1 })).rejects.toMatchObject({
    code: Code.Aborted,
    rawMessage: expect.stringMatching(/^admin@example\.test saved version 2 at .* UTC, after you opened it$/),
  });
  expect(await shown(keyId)).toMatchObject({ name: "first", tools: ["echo"], limit: 8, savedAt: saved?.savedAt });
  await edit({ name: "second", expectedVersion: 2 });
  expect(await shown(keyId)).toMatchObject({ name: "second", tools: ["echo"], limit: 8 });
  await edit({ tools: { names: ["lookup"] } });
  await keyAuth.keys().rotateKey({ keyId }, keyAuth.as("admin"));
  const last = { name: "second", tools: ["lookup"], limit: 8, version: 4, savedBy: "manager@example.test" };
  expect(await shown(keyId)).toMatchObject(last);
});

test("[KEY-6] [KEY-8] [KEY-23] [MGMT-12] [ERR-8] a key is refused from its expiry on, until that is moved or cleared", async () => {
  const {
    keyId,
    key: created,
    secret,
  } = await keyAuth.newKey({ expiry: { at: { case: "date", value: "2999-12-31" } } });
  const endOfDay = { seconds: BigInt(Date.parse("3000-01-01T00:00:00Z") / 1000) };
  expect(created.expiresAt).toMatchObject(endOfDay);
  await keyAuth.keys().updateKey({ keyId, name: "renamed" }, keyAuth.as("manager"));
  expect((await shown(keyId))?.expiresAt).toMatchObject(endOfDay);
  const expire = async (at: { case: "date"; value: string } | { case: undefined }) =>
    (await keyAuth.keys().updateKey({ keyId, expiry: { at } }, keyAuth.as("manager"))).key;
  expect((await expire({ case: "date", value: "2020-01-31" }))?.status).toBe(KeyStatus.EXPIRED);
  expect(await keyAuth.verify(secret)).toBeUndefined();
  const value = { seconds: 33_000_000_000n, nanos: 0 };
  const expiry = { at: { case: "timestamp" as const, value } };
  const moved = await keyAuth.keys().updateKey({ keyId, expiry }, keyAuth.as("manager"));
  expect(moved.key).toMatchObject({ status: KeyStatus.ACTIVE, name: "renamed", expiresAt: { seconds: value.seconds } });
  expect(await keyAuth.verify(secret)).toBeDefined();
  await expire({ case: "date", value: "2020-01-31" });
  expect((await expire({ case: undefined }))?.status).toBe(KeyStatus.ACTIVE);
  expect(await keyAuth.verify(secret)).toBeDefined();
});

test("[KEY-20] [KEY-21] [KEY-22] [MGMT-13] a revoked key is refused at once, stays in the list and cannot be edited", async () => {
  const { keyId, secret } = await keyAuth.newKey();
  expect(await keyAuth.verify(secret)).toBeDefined();
  const first = await keyAuth.keys().revokeKey({ keyId }, keyAuth.as("manager"));
  expect(await keyAuth.verify(secret)).toBeUndefined();
  const second = await keyAuth.keys().revokeKey({ keyId }, keyAuth.as("manager"));
  expect(second.key?.revokedAt).toEqual(first.key?.revokedAt);
  const listed = await keyAuth.keys().listKeys({ pageSize: 100 }, keyAuth.as("manager"));
  expect(listed.keys.find(({ id }) => id === keyId)?.status).toBe(KeyStatus.REVOKED);
  const edit = keyAuth.keys().updateKey({ keyId, name: "x" }, keyAuth.as("manager"));
  expect(await codeOf(edit)).toBe(Code.FailedPrecondition);
});

test("[MGMT-2] [MGMT-3] [MGMT-4] managers and admins can manage keys, members and anonymous callers cannot", async () => {
  for (const role of ["manager", "admin"] as const)
    expect(await codeOf(keyAuth.keys().listKeys({}, keyAuth.as(role)))).toBeUndefined();
  expect(await codeOf(keyAuth.keys().listKeys({}, keyAuth.as("member")))).toBe(Code.PermissionDenied);
  expect(await codeOf(keyAuth.keys().listKeys({}))).toBe(Code.Unauthenticated);
});

test("[KEY-19] [MGMT] every RPC refuses a key of another workspace with not_found", async () => {
  const { keyId } = await keyAuth.newKey();
  const stranger = await newUser(keyAuth, "admin");
  const keys = keyAuth.keys();
  const refused = [
    keys.getKey({ keyId }, stranger),
    keys.updateKey({ keyId, name: "x" }, stranger),
    keys.revokeKey({ keyId }, stranger),
    keys.rotateKey({ keyId }, stranger),
    keys.listKeyCalls({ keyId }, stranger),
    keys.explainCall({ keyId, tool: "echo" }, stranger),
    keys.getKey({ keyId: "no uuid" }, stranger),
  ];
  expect(new Set(await Promise.all(refused.map(codeOf)))).toEqual(new Set([Code.NotFound]));
  expect((await keys.listKeys({}, stranger)).keys).toEqual([]);
  expect((await keys.getHourlyCounts({ ids: [keyId] }, stranger)).counts).toEqual([]);
});

test("[KEY-2] [KEY-18] [KEY-19] a verdict names the key's workspace and tells whether the key lists the tool", async () => {
  const here = await keyAuth.newKey({ tools: ["echo"] });
  const stranger = await newUser(keyAuth, "admin");
  const there = await keyAuth.newKey({}, stranger);
  const verdict = async ({ secret }: { secret: string }, tool: string) => {
    const { workspaceId, toolListed } = (await keyAuth.verify(secret, { tool })) ?? {};
    return [workspaceId, toolListed];
  };
  expect(await verdict(here, "echo")).toEqual([keyAuth.workspaceId, true]);
  expect(await verdict(here, "lookup")).toEqual([keyAuth.workspaceId, false]);
  expect(await verdict(there, "echo")).toEqual([stranger.workspaceId, false]);
});

test("[KEY-7] [KEY-9] [MGMT-5] [MGMT-14] [MGMT-15] [MGMT-17] the list shows prefix, status, last use and total of each key", async () => {
  const who = await newUser(keyAuth, "manager");
  const { keyId, secret } = await keyAuth.newKey({}, who);
  await keyAuth.pool.query(
    "update key_auth.keys set calls_total = 42, last_used_at = '2026-11-21T12:00:00Z' where id = $1",
    [keyId],
  );
  const { keys } = await keyAuth.keys().listKeys({}, who);
  const prefix = secret.slice(0, "svc_live_".length + 6);
  const lastUsedAt = { seconds: BigInt(Date.parse("2026-11-21T12:00:00Z") / 1000) };
  expect(keys).toMatchObject([{ id: keyId, prefix, status: KeyStatus.ACTIVE, callsTotal: 42n, lastUsedAt }]);
});

test("[FAIR] a workspace has a limited number of keys, revoked ones included: one more is refused, others are not affected", async () => {
  const manager = await newUser(keyAuth, "manager");
  await keyAuth.pool.query(
    `insert into key_auth.keys (id, workspace_id, name, secret_hash, prefix, tools, call_limit, revoked_at, created_by)
     select gen_random_uuid(), $1, 'n' || n, sha256(convert_to('full ' || n, 'UTF8')), 'svc_live_full', '{}', 60,
       case when n % 2 = 0 then now() end, 'x'
     from generate_series(2, $2::int) n`,
    [manager.workspaceId, MAX_KEYS],
  );
  const together = await Promise.all(
    Array.from({ length: 8 }, () => codeOf(keyAuth.newKey({ name: "last" }, manager))),
  );
  expect(together.filter((code) => code !== undefined)).toEqual(Array(7).fill(Code.ResourceExhausted));
  const [last] = (await keyAuth.keys().listKeys({ search: "last" }, manager)).keys;
  await keyAuth.keys().revokeKey({ keyId: last?.id ?? "" }, manager);
  await expect(keyAuth.newKey({}, manager)).rejects.toMatchObject({
    code: Code.ResourceExhausted,
    rawMessage: "a workspace has at most 10000 keys, revoked ones included",
  });
  await keyAuth.newKey({ name: "other" });
});
