import { randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { type Key, KeyOrder, KeyStatus } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { codeOf, newUser, type RunningKeyAuth, runKeyAuth } from "../running-key-auth.ts";

let keyAuth: RunningKeyAuth;
beforeAll(async () => {
  keyAuth = await runKeyAuth();
});
afterAll(() => keyAuth[Symbol.asyncDispose]());

interface SeededKey {
  name: string;
  createdAt?: string;
  lastUsedAt?: string;
  callsTotal?: number;
  expiresAt?: string;
  revokedAt?: string;
  tools?: string[];
}

async function workspaceWith(keys: SeededKey[]) {
  const who = await newUser(keyAuth, "manager");
  for (const key of keys) {
    await keyAuth.pool.query(
      `insert into key_auth.keys (id, workspace_id, name, secret_hash, prefix, tools, call_limit, created_by, created_at,
         last_used_at, calls_total, expires_at, revoked_at)
       values (gen_random_uuid(), $1, $2, sha256(gen_random_uuid()::text::bytea), 'svc_live_AbCdEf', $3, 60, 'test',
         coalesce($4::timestamptz, now()), $5, $6, $7, $8)`,
      [
        who.workspaceId,
        key.name,
        key.tools ?? [],
        key.createdAt,
        key.lastUsedAt,
        key.callsTotal ?? 0,
        key.expiresAt,
        key.revokedAt,
      ],
    );
  }
  return who;
}

async function allPages(
  who: { headers: Headers },
  request: { order?: KeyOrder; status?: KeyStatus; withUnavailableTools?: boolean },
  pageSize = 2,
) {
  const keys: Key[] = [];
  let pageToken = "";
  do {
    const page = await keyAuth.keys().listKeys({ ...request, pageSize, pageToken }, who);
    keys.push(...page.keys);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return keys;
}

const names = (keys: Key[]) => keys.map(({ name }) => name);

test("[MGMT-5] [KEY-6] paging in every order lists each key once, despite ties and keys that were never used or never expire", async () => {
  const same = "2026-11-01T00:00:00.123456Z";
  const who = await workspaceWith([
    { name: "b", createdAt: same, lastUsedAt: "2026-11-02T00:00:00Z", callsTotal: 5 },
    { name: "B", createdAt: same, lastUsedAt: "2026-11-02T00:00:00Z", callsTotal: 5 },
    { name: "a", createdAt: same, expiresAt: "2999-01-01T00:00:00Z" },
    { name: "c", createdAt: "2026-11-01T00:00:00.123457Z", lastUsedAt: "2026-11-02T00:00:00.000001Z", callsTotal: 5 },
    { name: "Ä", createdAt: same, expiresAt: "2020-01-01T00:00:00Z" },
    { name: "a", createdAt: "2026-10-01T00:00:00Z" },
    { name: "d", lastUsedAt: "2026-11-03T00:00:00Z", callsTotal: 7_000_000_000 },
  ]);
  const ids = new Set((await allPages(who, {}, 100)).map(({ id }) => id));
  expect(ids.size).toBe(7);
  for (const order of [
    KeyOrder.UNSPECIFIED,
    KeyOrder.NAME,
    KeyOrder.LAST_USED,
    KeyOrder.CALLS_TOTAL,
    KeyOrder.EXPIRY,
  ]) {
    const whole = await allPages(who, { order }, 100);
    for (const pageSize of [1, 2, 3]) {
      const paged = await allPages(who, { order }, pageSize);
      expect(paged.map(({ id }) => id)).toEqual(whole.map(({ id }) => id));
    }
    expect(new Set(whole.map(({ id }) => id))).toEqual(ids);
  }
  expect(names(await allPages(who, { order: KeyOrder.EXPIRY })).slice(0, 2)).toEqual(["Ä", "a"]);
  expect(names(await allPages(who, {})).slice(0, 2)).toEqual(["d", "c"]);
  expect(names(await allPages(who, {})).at(-1)).toBe("a");
  expect(names(await allPages(who, { order: KeyOrder.NAME })).map((name) => name.toLowerCase())).toEqual([
    "a",
    "a",
    "b",
    "b",
    "c",
    "d",
    "ä",
  ]);
  const byUse = await allPages(who, { order: KeyOrder.LAST_USED });
  expect(names(byUse).slice(0, 2)).toEqual(["d", "c"]);
  expect(byUse.map(({ lastUsedAt }) => lastUsedAt !== undefined)).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  expect((await allPages(who, { order: KeyOrder.CALLS_TOTAL })).map(({ callsTotal }) => Number(callsTotal))).toEqual([
    7_000_000_000, 5, 5, 5, 0, 0, 0,
  ]);
});

test("[MGMT-15] [KEY-8] the list can be filtered by the keys' current status", async () => {
  const past = "2020-01-01T00:00:00Z";
  const who = await workspaceWith([
    { name: "active" },
    { name: "active until later", expiresAt: "2999-01-01T00:00:00Z" },
    { name: "expired", expiresAt: past },
    { name: "revoked", revokedAt: past },
    { name: "revoked and expired", revokedAt: past, expiresAt: past },
  ]);
  const listed = async (status: KeyStatus) => new Set(names(await allPages(who, { status })));
  expect(await listed(KeyStatus.ACTIVE)).toEqual(new Set(["active", "active until later"]));
  expect(await listed(KeyStatus.EXPIRED)).toEqual(new Set(["expired"]));
  expect(await listed(KeyStatus.REVOKED)).toEqual(new Set(["revoked", "revoked and expired"]));
  expect((await allPages(who, {})).length).toBe(5);
});

test("[MGMT-5] keys are found by part of their name or prefix, ignoring case, and by tool", async () => {
  const who = await workspaceWith([
    { name: "Partner ÖKO", tools: ["echo"] },
    { name: "100%_sure", tools: ["echo2"] },
    { name: "other", tools: ["lookup", "echo"] },
  ]);
  const found = async (request: { search?: string; tool?: string }) =>
    new Set(names((await keyAuth.keys().listKeys(request, who)).keys));
  expect(await found({ search: "partner" })).toEqual(new Set(["Partner ÖKO"]));
  expect(await found({ search: "öko" })).toEqual(new Set(["Partner ÖKO"]));
  expect(await found({ search: "%_" })).toEqual(new Set(["100%_sure"]));
  expect((await found({ search: "ABCDEF" })).size).toBe(3);
  expect(await found({ search: "nothing like it" })).toEqual(new Set());
  expect(await found({ tool: "echo" })).toEqual(new Set(["Partner ÖKO", "other"]));
  expect(await found({ tool: "ech" })).toEqual(new Set());
});

test("[MGMT-5] a page token of another order, or a forged one, is refused", async () => {
  const who = await workspaceWith([{ name: "a" }, { name: "b" }]);
  const { nextPageToken } = await keyAuth.keys().listKeys({ pageSize: 1 }, who);
  const withToken = (pageToken: string, order = KeyOrder.UNSPECIFIED) =>
    codeOf(keyAuth.keys().listKeys({ pageSize: 1, pageToken, order }, who));
  expect(await withToken(nextPageToken)).toBeUndefined();
  expect(await withToken(nextPageToken, KeyOrder.NAME)).toBe(Code.InvalidArgument);
  const forged = (cursor: object) => Buffer.from(JSON.stringify(cursor)).toString("base64url");
  expect(await withToken(forged({ order: "newest", value: "no time", id: randomUUID() }))).toBe(Code.InvalidArgument);
  expect(await withToken(forged({ order: "newest", value: "2026-01-01", id: "no uuid" }))).toBe(Code.InvalidArgument);
  expect(await codeOf(keyAuth.keys().listKeys({ order: 9 as KeyOrder }, who))).toBe(Code.InvalidArgument);
});

test("[MGMT-18] [MGMT-19] deleted, async and no longer released tools are unavailable, with one check per page", async () => {
  const { tools, checked } = keyAuth.toolRunner;
  for (const name of ["fades", "leaves", "turns"]) tools.set(name, { released: true });
  const who = await workspaceWith([]);
  await keyAuth.newKey({ tools: ["fades", "echo"] }, who);
  await keyAuth.newKey({ tools: ["leaves", "turns", "echo"] }, who);
  tools.set("fades", { released: false });
  tools.set("turns", { released: true, async: true });
  tools.delete("leaves");
  checked.length = 0;
  const { keys } = await keyAuth.keys().listKeys({}, who);
  expect(keys.map(({ unavailableTools }) => unavailableTools)).toEqual([["leaves", "turns"], ["fades"]]);
  expect(checked.map((asked) => asked.toSorted())).toEqual([["echo", "fades", "leaves", "turns"]]);
  const { key } = await keyAuth.keys().getKey({ keyId: keys[1]?.id ?? "" }, who);
  expect(key).toMatchObject({ tools: ["fades", "echo"], unavailableTools: ["fades"], toolsUnchecked: false });
  tools.set("fades", { released: true });
  expect((await keyAuth.keys().getKey({ keyId: keys[1]?.id ?? "" }, who)).key?.unavailableTools).toEqual([]);
});

test("[MGMT-18] while tool-runner is down, keys are listed with their tools unchecked, and can be revoked", async () => {
  const who = await workspaceWith([{ name: "k", tools: ["echo"] }]);
  const { toolRunner } = keyAuth;
  toolRunner.down = true;
  try {
    const { keys } = await keyAuth.keys().listKeys({}, who);
    expect(keys[0]).toMatchObject({ toolsUnchecked: true, unavailableTools: [] });
    // Not even asked: it might hang.
    Object.assign(toolRunner, { down: false, hangs: true, checked: [] });
    const { key } = await keyAuth.keys().revokeKey({ keyId: keys[0]?.id ?? "" }, who);
    expect(key).toMatchObject({ status: KeyStatus.REVOKED, toolsUnchecked: true });
    expect(toolRunner.checked).toEqual([]);
  } finally {
    Object.assign(toolRunner, { down: false, hangs: false });
  }
});

test("[MGMT-18] keys with unavailable tools are found over all pages, and nobody guesses while tool-runner is down", async () => {
  const { tools } = keyAuth.toolRunner;
  for (const name of ["stays", "goes"]) tools.set(name, { released: true });
  const who = await workspaceWith([
    { name: "fine", tools: ["stays"] },
    { name: "red", tools: ["stays", "goes"] },
    { name: "without tools" },
    { name: "red and revoked", tools: ["goes"], revokedAt: "2020-01-01T00:00:00Z" },
    { name: "red too", tools: ["never-was"] },
  ]);
  await workspaceWith([{ name: "of others", tools: ["goes"] }]);
  const withUnavailableTools = async () => new Set(names(await allPages(who, { withUnavailableTools: true }, 1)));
  expect(await withUnavailableTools()).toEqual(new Set(["red too"]));
  tools.delete("goes");
  expect(await withUnavailableTools()).toEqual(new Set(["red", "red and revoked", "red too"]));
  keyAuth.toolRunner.down = true;
  try {
    expect(await codeOf(withUnavailableTools())).toBe(Code.Unavailable);
  } finally {
    keyAuth.toolRunner.down = false;
  }
});
