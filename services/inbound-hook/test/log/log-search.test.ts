import { randomUUID } from "node:crypto";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import type { HookDelivery } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { MAX_ROWS_READ } from "@toolgate/postgres/log-search";
import { ensureDailyPartitions } from "@toolgate/postgres/partitions";
import type { Pool } from "@toolgate/postgres/pool";
import { newTimedId } from "@toolgate/postgres/timed-id";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DeliveryStatus } from "../../src/store/log/read.ts";
import { type HookRig, startHookRig, type TestWorkspace } from "../hook-rig.ts";

const DAY_MS = 86_400_000;
const STATUSES = ["waiting", "running", "succeeded", "failed", "interrupted"] as const;

/** A delivery as a test puts it into the log. */
interface MadeDelivery {
  id: string;
  at: Date;
  hook: number;
  externalId: string | null;
  requestId: string;
  status: DeliveryStatus;
}

/** Inserts a hook with this id, whose URL is unknown. */
async function insertHookRow(pool: Pool, workspaceId: string, id: number): Promise<void> {
  await pool.query(
    `insert into inbound_hook.hook (id, workspace_id, workspace, name, url_hash, shown_url, format, target_kind,
       target_name, args_from, call_limit, tolerance_seconds, secret, created_at)
     values ($1, $2, 'w', 'Hook ' || $1::bigint, sha256($3), 'hk_', 'native', 'tool', 'echo', 'fields', 60, 300, '', now())`,
    [id, workspaceId, Buffer.from(randomUUID())],
  );
}

/** Inserts deliveries, and queues the waiting and running ones, alternating between the lanes. */
async function insertDeliveries(pool: Pool, workspaceId: string, rows: readonly MadeDelivery[]): Promise<void> {
  const column = <K extends keyof MadeDelivery>(name: K) => rows.map((row) => row[name]);
  await pool.query(
    `insert into inbound_hook.delivery
       (created_at, id, workspace_id, hook_id, external_id, request_id, status, body, content_type, headers)
     select at, id, $1, hook, external_id, request_id, status, '{}', 'application/json', '{}'
     from unnest($2::timestamptz[], $3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::text[])
       as given (at, id, hook, external_id, request_id, status)`,
    [
      workspaceId,
      column("at"),
      column("id"),
      column("hook"),
      column("externalId"),
      column("requestId"),
      column("status"),
    ],
  );
  for (const [parity, lane] of [
    [0, "tool"],
    [1, "assistant"],
  ]) {
    await pool.query(
      `insert into inbound_hook.${lane}_queue_item (item_id, group_id, member_id, created_at, due_at, lease_until)
       select id, $1, hook, at, '2100-01-01', case when status = 'running' then '2100-01-01'::timestamptz end
       from unnest($2::timestamptz[], $3::uuid[], $4::bigint[], $5::text[]) with ordinality
         as given (at, id, hook, status, n)
       where status in ('waiting', 'running') and n % 2 = $6`,
      [workspaceId, column("at"), column("id"), column("hook"), column("status"), parity],
    );
  }
}

interface Search {
  hookId?: bigint;
  statuses?: number[];
  externalId?: string;
  requestId?: string;
  from?: Date | undefined;
  to?: Date | undefined;
}

let rig: HookRig;
let nextHook = 1;
beforeAll(async () => {
  rig = await startHookRig({ instances: [["receiver"]] });
  for (const table of ["inbound_hook.delivery", "inbound_hook.run"]) {
    await ensureDailyPartitions(rig.pool, { table, from: new Date(Date.now() - 31 * DAY_MS), days: 32 });
  }
});
afterAll(() => rig?.[Symbol.asyncDispose]());

function make(index: number, at: Date, firstHook: number): MadeDelivery {
  return {
    id: newTimedId(at),
    at,
    hook: firstHook + (index % 3),
    externalId: index % 4 === 0 ? null : `order-${Math.floor(index / 6)}`,
    requestId: `request-${Math.floor(index / 2)}`,
    status: STATUSES[(index * 3 + Math.floor(index / 11)) % STATUSES.length] ?? "waiting",
  };
}

/** A new workspace whose log has these rows, with hooks of ids that follow each other. */
async function workspaceWith(
  times: readonly Date[],
): Promise<{ workspace: TestWorkspace; rows: MadeDelivery[]; hook: number }> {
  const workspace = await rig.newWorkspace();
  const hook = nextHook;
  nextHook += 3;
  for (let more = 0; more < 3; more += 1) await insertHookRow(rig.pool, workspace.id, hook + more);
  const rows = times.map((at, index) => make(index, at, hook));
  await insertDeliveries(rig.pool, workspace.id, rows);
  return { workspace, rows, hook };
}

const hoursAgo = (hours: number) => new Date(rig.clock.now().getTime() - hours * 3_600_000);
const newestFirst = (rows: readonly MadeDelivery[]) =>
  rows
    .map(({ id }) => id)
    .toSorted()
    .toReversed();

/** All pages, in order. */
async function all(workspace: TestWorkspace, { from, to, ...search }: Search, pageSize = 100): Promise<HookDelivery[]> {
  const found: HookDelivery[] = [];
  let pageToken = "";
  do {
    const page = await workspace.deliveries.listHookDeliveries({
      ...search,
      ...(from && { receivedFrom: timestampFromDate(from) }),
      ...(to && { receivedTo: timestampFromDate(to) }),
      pageSize,
      pageToken,
    });
    expect(page.deliveries.length).toBeLessThanOrEqual(pageSize);
    found.push(...page.deliveries);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return found;
}

/** Usually absent, so that some searches find much. */
const option = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: 2 }, { arbitrary, weight: 1 });

test("[IN-12] every combination of filters finds exactly the matching deliveries, newest first, with any page size", async () => {
  // Several share a millisecond, several a day, and some are weeks apart.
  const times = Array.from({ length: 300 }, (_, index) => hoursAgo(Math.floor(index / 2) * 4));
  const { workspace, rows, hook } = await workspaceWith(times);
  await workspaceWith(times);
  const time = fc.integer({ min: -2, max: 152 }).map((steps) => hoursAgo(steps * 4));
  const search = fc.record({
    hookOffset: option(fc.integer({ min: 0, max: 3 })),
    statuses: option(fc.uniqueArray(fc.constantFrom(...STATUSES), { minLength: 1 })),
    externalId: option(fc.integer({ min: 0, max: 51 }).map((number) => `order-${number}`)),
    requestId: option(fc.integer({ min: 0, max: 151 }).map((number) => `request-${number}`)),
    from: option(time),
    to: option(time),
    pageSize: fc.constantFrom(20, 50, 100),
  });
  await fc.assert(
    fc.asyncProperty(search, async ({ hookOffset, statuses, externalId, requestId, from, to, pageSize }) => {
      const meets = (row: MadeDelivery) =>
        (hookOffset === undefined || row.hook === hook + hookOffset) &&
        (statuses === undefined || statuses.includes(row.status)) &&
        (externalId === undefined || row.externalId === externalId) &&
        (requestId === undefined || row.requestId === requestId) &&
        (from === undefined || row.at >= from) &&
        (to === undefined || row.at < to);
      const asked: Search = {
        ...(hookOffset !== undefined && { hookId: BigInt(hook + hookOffset) }),
        ...(statuses && { statuses: statuses.map((status) => STATUSES.indexOf(status) + 1) }),
        ...(externalId !== undefined && { externalId }),
        ...(requestId !== undefined && { requestId }),
        from,
        to,
      };
      const found = await all(workspace, asked, pageSize);
      expect(found.map(({ id }) => id)).toEqual(newestFirst(rows.filter(meets)));
    }),
    { numRuns: 50 },
  );
});

test("[IN-12] one page finds what has not succeeded, in a log of more rows than a search reads", async () => {
  const { workspace, hook } = await workspaceWith([]);
  const oldest = ["waiting", "running", "failed"] as const;
  const rows = Array.from({ length: MAX_ROWS_READ + oldest.length }, (_, index): MadeDelivery => {
    const at = hoursAgo(10 - index / 1_000);
    return { ...make(index, at, hook), status: oldest[index] ?? "succeeded" };
  });
  await insertDeliveries(rig.pool, workspace.id, rows);
  const statuses = oldest.map((status) => STATUSES.indexOf(status) + 1);
  for (const some of [...statuses.map((status) => [status]), statuses]) {
    const page = await workspace.deliveries.listHookDeliveries({ statuses: some });
    expect(page.deliveries.map(({ status }) => status).toSorted()).toEqual(some);
  }
});

test("[IN-11] [IN-12] a row of the log shows the hook, the external id, the request id and the status", async () => {
  const { workspace, rows, hook } = await workspaceWith([hoursAgo(1)]);
  const [row] = rows as [MadeDelivery];
  const [shown] = await all(workspace, {});
  expect(shown).toMatchObject({
    id: row.id,
    hookId: BigInt(hook),
    hookName: `Hook ${hook}`,
    externalId: "",
    status: 1,
    receivedAt: timestampFromDate(row.at),
    runs: 0,
    requestId: "request-0",
  });
});

test("[WMGMT] the hook of another workspace finds nothing, and pages neither repeat nor miss while new calls come in", async () => {
  const { workspace, rows, hook } = await workspaceWith(Array.from({ length: 30 }, (_, index) => hoursAgo(index)));
  const other = await rig.newWorkspace();
  expect(await other.deliveries.listHookDeliveries({ hookId: BigInt(hook) })).toMatchObject({
    deliveries: [],
    nextPageToken: "",
  });
  const first = await workspace.deliveries.listHookDeliveries({ pageSize: 10 });
  await insertDeliveries(rig.pool, workspace.id, [make(1, rig.clock.now(), hook)]);
  const second = await workspace.deliveries.listHookDeliveries({ pageSize: 100, pageToken: first.nextPageToken });
  const seen = [...first.deliveries, ...second.deliveries].map(({ id }) => id);
  expect(seen).toEqual(newestFirst(rows));
});

test("[WMGMT] a search with a bad field is refused", async () => {
  const workspace = await rig.newWorkspace();
  for (const search of [
    { pageSize: 101 },
    { pageToken: "x" },
    { pageToken: Buffer.from(`{"before":"${randomUUID()}"}`).toString("base64url") },
    { statuses: [0] },
    { statuses: [6] },
    { externalId: "x".repeat(256) },
    { requestId: "a\0b" },
    { receivedFrom: { seconds: -1n } },
    { receivedTo: { seconds: 253_402_300_800n } },
  ]) {
    const refused = workspace.deliveries.listHookDeliveries(search);
    await expect(refused).rejects.toMatchObject({ code: Code.InvalidArgument });
  }
});
