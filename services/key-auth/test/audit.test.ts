import { randomUUID } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { publishDurably } from "@toolgate/event-bus/batching-publisher";
import { connectBus } from "@toolgate/event-bus/connect";
import { AuditBatchSchema } from "@toolgate/gen/toolgate/events/v1/audit_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { testNats } from "@toolgate/testbed/servers/servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pruneAuditLog } from "../src/events/daily-job.ts";
import { MAX_ENTRIES_READ } from "../src/store/audit.ts";
import { codeOf, newUser, type RunningKeyAuth, runKeyAuth } from "./running-key-auth.ts";

let keyAuth: RunningKeyAuth;
beforeAll(async () => {
  keyAuth = await runKeyAuth();
});
afterAll(() => keyAuth[Symbol.asyncDispose]());

async function newWorkspace() {
  const { workspaceId } = await newUser(keyAuth, "admin");
  return { manager: keyAuth.as("manager", workspaceId), admin: keyAuth.as("admin", workspaceId) };
}

test("[MGMT] [KEY-16] every change of a key is in the audit log with user, time, old and new values, and no secret", async () => {
  const { manager, admin } = await newWorkspace();
  const startedAt = Date.now();
  const { keyId, secret } = await keyAuth.newKey({ name: "Partner", tools: ["echo"] }, manager);
  await keyAuth.keys().updateKey({ keyId, limit: 100, tools: { names: [] } }, manager);
  const rotated = await keyAuth.keys().rotateKey({ keyId, overlapSeconds: 60 }, admin);
  await keyAuth.keys().revokeKey({ keyId }, admin);
  await keyAuth.keys().revokeKey({ keyId }, admin);
  const { entries } = await keyAuth.audit.listAuditEntries({ targetId: keyId }, admin);
  expect(entries.map(({ action, actor }) => [action, actor])).toEqual([
    ["key.revoke", "admin@example.test"],
    ["key.rotate", "admin@example.test"],
    ["key.edit", "manager@example.test"],
    ["key.create", "manager@example.test"],
  ]);
  const [revoke, rotate, edit, create] = entries.map(({ changes }) =>
    Object.fromEntries(changes.map(({ field, beforeJson, afterJson }) => [field, [beforeJson, afterJson]])),
  );
  expect(edit).toEqual({ limit: ["60", "100"], tools: ['["echo"]', "[]"] });
  expect(create).toMatchObject({ name: ["", '"Partner"'], limit: ["", "60"], tools: ["", '["echo"]'] });
  expect(Object.keys(rotate ?? {}).toSorted()).toEqual(["prefix", "previousSecretValidUntil"]);
  expect(Object.keys(revoke ?? {})).toEqual(["revokedAt"]);
  for (const { target, at } of entries) {
    expect(target).toBe("Partner");
    expect(Number(at?.seconds)).toBeGreaterThanOrEqual(Math.floor(startedAt / 1000));
  }
  const { rows } = await keyAuth.pool.query("select a::text as row from key_auth.audit_entries a");
  for (const { row } of rows) for (const text of [secret, rotated.secret]) expect(row).not.toContain(text);
});

test("[MGMT] an edit that changes nothing or is invalid leaves no audit entry", async () => {
  const { manager, admin } = await newWorkspace();
  const { keyId } = await keyAuth.newKey({}, manager);
  await keyAuth.keys().updateKey({ keyId, name: "k" }, manager);
  expect(await codeOf(keyAuth.keys().updateKey({ keyId, limit: 0 }, manager))).toBe(Code.InvalidArgument);
  expect(await codeOf(keyAuth.newKey({ name: "" }, manager))).toBe(Code.InvalidArgument);
  const { entries } = await keyAuth.audit.listAuditEntries({}, admin);
  expect(entries.filter(({ action }) => action.startsWith("key.")).map(({ action }) => action)).toEqual(["key.create"]);
});

test("[KEY] editing a revoked key is refused, and the attempt is in the audit log", async () => {
  const { manager, admin } = await newWorkspace();
  const { keyId } = await keyAuth.newKey({ name: "gone" }, manager);
  await keyAuth.keys().revokeKey({ keyId }, admin);
  expect(await codeOf(keyAuth.keys().updateKey({ keyId, limit: 9, name: "back" }, manager))).toBe(
    Code.FailedPrecondition,
  );
  expect((await keyAuth.keys().getKey({ keyId }, manager)).key).toMatchObject({ name: "gone", limit: 60 });
  const [refused] = (await keyAuth.audit.listAuditEntries({ targetId: keyId }, admin)).entries;
  expect(refused).toMatchObject({ action: "key.edit_refused", actor: "manager@example.test", target: "gone" });
  expect(refused?.changes).toMatchObject([
    { field: "name", beforeJson: '"gone"', afterJson: '"back"' },
    { field: "limit", beforeJson: "60", afterJson: "9" },
  ]);
});

test("[MGMT] [WMGMT] an audit entry that another service reports, even repeatedly, appears once and only in its workspace", async () => {
  await using nats = await testNats();
  await using own = await runKeyAuth({ natsUrl: nats.url });
  await using bus = await connectBus({ servers: nats.url, name: "test" });
  const reported = (targetId: string, workspaceId: string) => ({
    id: randomUUID(),
    workspaceId,
    atMs: BigInt(Date.parse("2026-11-21T12:00:00Z")),
    actorId: randomUUID(),
    actor: "ada@example.test",
    action: "tool.expose",
    targetId,
    target: targetId,
    fields: ["external_api"],
  });
  const nobodys = reported("nobodys", randomUUID());
  const batch = (...records: ReturnType<typeof reported>[]) =>
    toBinary(AuditBatchSchema, create(AuditBatchSchema, { records }));
  const first = reported("first", own.workspaceId);
  for (const message of [batch(nobodys, first), batch(first), batch(first, reported("last", own.workspaceId))]) {
    await publishDurably(bus, "records.audit", message);
  }
  const listed = () => own.audit.listAuditEntries({ action: "tool.expose" }, own.as("admin"));
  await eventually(async () => (await listed()).entries.some(({ target }) => target === "last"));
  const { entries } = await listed();
  expect(entries.map(({ target }) => target).toSorted()).toEqual(["first", "last"]);
  expect(entries[0]).toMatchObject({
    actor: "ada@example.test",
    changes: [{ field: "external_api", beforeJson: "", afterJson: "" }],
  });
});

test("[MGMT] [KEY-19] only admins can read the audit log, and only that of their own workspace", async () => {
  const { manager, admin } = await newWorkspace();
  await keyAuth.newKey({}, manager);
  expect(await codeOf(keyAuth.audit.listAuditEntries({}, manager))).toBe(Code.PermissionDenied);
  const other = await newWorkspace();
  expect((await keyAuth.audit.listAuditEntries({}, other.admin)).entries).toEqual([]);
  expect((await keyAuth.audit.listAuditEntries({}, admin)).entries.length).toBe(1);
});

test("[MGMT] [FAIR] a page of a search reads a bounded number of entries, and the pages together find all", async () => {
  const admin = await newUser(keyAuth, "admin");
  const entries = 2 * MAX_ENTRIES_READ + 1_000;
  // A thousand of the same time each; the oldest has a time of its own.
  await keyAuth.pool.query(
    `insert into key_auth.audit_entries (id, workspace_id, at, actor, action, target_id, target, changes)
     select gen_random_uuid(), $1, '2026-11-21T12:00:00Z'::timestamptz - make_interval(secs => n / 1000), 'ada',
       case when n in (3, $2) then 'tool.expose' else 'tool.edit' end, 'echo', n::text, '[]'
     from generate_series(1, $2::int) n`,
    [admin.workspaceId, entries],
  );
  const read = async (filter: { action?: string; targetId?: string; actor?: string }) => {
    const pages: string[][] = [];
    let pageToken = "";
    do {
      const page = await keyAuth.audit.listAuditEntries({ ...filter, pageSize: 100, pageToken }, admin);
      pages.push(page.entries.map(({ target }) => target));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    return pages;
  };
  expect(await read({ action: "nothing.matches" })).toEqual([[], [], []]);
  expect(await read({ targetId: "nobody" })).toEqual([[], [], []]);
  expect(await read({ action: "tool.expose" })).toEqual([["3"], [], [`${entries}`]]);
  expect(await read({ actor: "eve" })).toEqual([[], [], []]);
  expect(await read({ actor: "Ada", action: "tool.expose" })).toEqual([["3"], [], [`${entries}`]]);
  const all = (await read({ targetId: "echo" })).flat();
  expect(all.length).toBe(entries);
  expect(new Set(all).size).toBe(entries);
  expect(await codeOf(keyAuth.audit.listAuditEntries({ pageToken: "bogus" }, admin))).toBe(Code.InvalidArgument);
});

test("[MGMT] audit entries are kept for two years, and pruning can be repeated", async () => {
  const { manager, admin } = await newWorkspace();
  const now = new Date();
  for (const [name, days] of [
    ["old", 731],
    ["young", 729],
  ] as const) {
    const { keyId } = await keyAuth.newKey({ name }, manager);
    const at = new Date(now.getTime() - days * 86_400_000);
    await keyAuth.pool.query("update key_auth.audit_entries set at = $2 where target_id = $1", [keyId, at]);
  }
  for (let run = 0; run < 2; run += 1) await pruneAuditLog(keyAuth.pool, now);
  expect((await keyAuth.audit.listAuditEntries({}, admin)).entries.map(({ target }) => target)).toEqual(["young"]);
});
