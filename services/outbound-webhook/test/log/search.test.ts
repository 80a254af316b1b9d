import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import {
  type Delivery,
  type DeliveryKind,
  DeliveryStatus,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { MAX_ROWS_READ } from "@toolgate/postgres/log-search";
import { ensureDailyPartitions } from "@toolgate/postgres/partitions";
import { newTimedId } from "@toolgate/postgres/timed-id";
import { codeOf } from "@toolgate/testbed/rpc-errors";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OutboundRig, startOutboundRig } from "../outbound-rig.ts";

const DAY_MS = 86_400_000;
const STATUS_NAMES = ["pending", "retrying", "delivered", "failed", "cancelled"] as const;
const KIND_NAMES = ["event", "test", "resend"] as const;
const TYPES = ["tool.completed", "custom.a", "custom.b", "customer.x"] as const;

interface Made {
  id: string;
  at: Date;
  endpoint: number;
  event: string;
  type: string;
  status: (typeof STATUS_NAMES)[number];
  kind: (typeof KIND_NAMES)[number];
}

interface Search {
  endpointId?: bigint;
  eventId?: string;
  eventType?: string;
  statuses?: DeliveryStatus[];
  kind?: DeliveryKind;
  createdFrom?: Date;
  createdTo?: Date;
}

describe("a search of the delivery log", () => {
  let rig: OutboundRig;
  beforeAll(async () => {
    rig = await startOutboundRig({ instances: [["manager"]] });
    for (const table of ["outbound_webhook.delivery", "outbound_webhook.attempt"]) {
      await ensureDailyPartitions(rig.pool, { table, from: new Date(Date.now() - 31 * DAY_MS), days: 32 });
    }
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  async function insert(workspaceId: string, rows: readonly Made[]): Promise<void> {
    const column = <K extends keyof Made>(name: K) => rows.map((row) => row[name]);
    const columns = [column("at"), column("id"), column("endpoint"), column("event"), column("type"), column("status")];
    await rig.pool.query(
      `insert into outbound_webhook.delivery
         (created_at, id, workspace_id, endpoint_id, event_created_at, event_id, event_type, event_at, status, kind)
       select at, id, $1, endpoint, at, event, type, at, status, kind
       from unnest($2::timestamptz[], $3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[])
         as given (at, id, endpoint, event, type, status, kind)`,
      [workspaceId, ...columns, column("kind")],
    );
    await rig.pool.query(
      `insert into outbound_webhook.queue_item (item_id, group_id, member_id, created_at, due_at, attempt, lease_until)
       select id, $1, endpoint, at, '2100-01-01', 1, case when n % 2 = 0 then '2100-01-01'::timestamptz end
       from unnest($2::timestamptz[], $3::uuid[], $4::bigint[], $5::text[]) with ordinality
         as given (at, id, endpoint, status, n)
       where status = 'pending'`,
      [workspaceId, column("at"), column("id"), column("endpoint"), column("status")],
    );
  }

  function make(index: number, at: Date): Made {
    const pick = <T>(values: readonly T[], seed: number) => values[seed % values.length] as T;
    return {
      id: newTimedId(at),
      at,
      endpoint: 1 + (index % 3),
      event: `evt_${Math.floor(index / 4)}`,
      type: pick(TYPES, index * 7 + Math.floor(index / 5)),
      status: pick(STATUS_NAMES, index * 3 + Math.floor(index / 11)),
      kind: pick(KIND_NAMES, index % 13 === 0 ? 1 : index % 17 === 0 ? 2 : 0),
    };
  }

  /** All pages, in order. */
  async function all(
    workspaceId: string,
    search: Search,
    pageSize = 100,
    onPage = async () => {},
  ): Promise<Delivery[]> {
    const client = rig.deliveries({ workspaceId });
    const { createdFrom, createdTo, ...rest } = search;
    const times = {
      ...(createdFrom && { createdFrom: timestampFromDate(createdFrom) }),
      ...(createdTo && { createdTo: timestampFromDate(createdTo) }),
    };
    const found: Delivery[] = [];
    let pageToken = "";
    do {
      const page = await client.listDeliveries({ ...rest, ...times, pageSize, pageToken });
      expect(page.deliveries.length).toBeLessThanOrEqual(pageSize);
      found.push(...page.deliveries);
      pageToken = page.nextPageToken;
      await onPage();
    } while (pageToken !== "");
    return found;
  }

  /** Usually absent, so that some searches find much. */
  const option = <T>(arbitrary: fc.Arbitrary<T>) =>
    fc.oneof({ arbitrary: fc.constant(undefined), weight: 2 }, { arbitrary, weight: 1 });

  it("[OUT-11] every combination of filters finds exactly the matching deliveries, newest first, with any page size", async () => {
    const now = rig.clock.now().getTime();
    // Several share a millisecond, several a day, and some are weeks apart.
    const rows = Array.from({ length: 300 }, (_, index) =>
      make(index, new Date(now - Math.floor(index / 2) * 4 * 3_600_000)),
    );
    await insert("w-combined", rows);
    await insert(
      "w-neighbour",
      rows.map((row) => ({ ...row, id: newTimedId(row.at) })),
    );
    const time = fc.integer({ min: -2, max: 152 }).map((steps) => new Date(now - steps * 4 * 3_600_000));
    const search = fc.record({
      endpoint: option(fc.integer({ min: 1, max: 4 })),
      event: option(fc.integer({ min: 0, max: 76 })),
      type: option(fc.constantFrom(...TYPES, "custom.*", "custom.", "absent")),
      statuses: option(fc.uniqueArray(fc.constantFrom(...STATUS_NAMES), { minLength: 1 })),
      kind: option(fc.constantFrom(...KIND_NAMES)),
      from: option(time),
      to: option(time),
      pageSize: fc.constantFrom(7, 50, 100),
    });
    await fc.assert(
      fc.asyncProperty(search, async ({ endpoint, event, type, statuses, kind, from, to, pageSize }) => {
        const meets = (row: Made) =>
          (endpoint === undefined || row.endpoint === endpoint) &&
          (event === undefined || row.event === `evt_${event}`) &&
          (type === undefined || row.type === type || (type === "custom.*" && row.type.startsWith("custom."))) &&
          (statuses === undefined || statuses.includes(row.status)) &&
          (kind === undefined || row.kind === kind) &&
          (from === undefined || row.at >= from) &&
          (to === undefined || row.at < to);
        const expected = rows.filter(meets).map(({ id }) => id);
        const found = await all(
          "w-combined",
          {
            ...(endpoint !== undefined && { endpointId: BigInt(endpoint) }),
            ...(event !== undefined && { eventId: `evt_${event}` }),
            ...(type !== undefined && { eventType: type }),
            ...(statuses && { statuses: statuses.map((status) => STATUS_NAMES.indexOf(status) + 1) }),
            ...(kind && { kind: KIND_NAMES.indexOf(kind) + 1 }),
            ...(from && { createdFrom: from }),
            ...(to && { createdTo: to }),
          },
          expected.length > 40 && pageSize < 7 ? 50 : pageSize,
        );
        expect(found.map(({ id }) => id)).toEqual(expected.toSorted().toReversed());
      }),
      { numRuns: 80 },
    );
  });

  it("[OUT-11] a search that finds little reads a bounded number of rows per page, and continues from there", async () => {
    const now = rig.clock.now().getTime();
    const rest = { endpoint: 1, type: "custom.a", status: "delivered", kind: "event" } as const;
    const times = Array.from({ length: MAX_ROWS_READ + 1_000 }, (_, index) => new Date(now - index * 100));
    const rows = times.map((at): Made => ({ ...rest, id: newTimedId(at), at, event: "evt_common" }));
    const rare = rows.at(-1) as Made;
    rare.endpoint = 2;
    await insert("w-rare", rows);
    const client = rig.deliveries({ workspaceId: "w-rare" });
    const filter = { statuses: [DeliveryStatus.DELIVERED], endpointId: 2n, eventType: "custom.a" };
    const first = await client.listDeliveries(filter);
    expect(first.deliveries).toEqual([]);
    expect(first.nextPageToken).not.toBe("");
    const second = await client.listDeliveries({ ...filter, pageToken: first.nextPageToken });
    expect(second.deliveries.map(({ id }) => id)).toEqual([rare.id]);
    expect(second.nextPageToken).toBe("");
  });

  it.each([
    { pageToken: "x" },
    { pageToken: "eyJiZWZvcmUiOiJ4In0" },
    { pageSize: 101 },
    { status: 99 },
    { kind: 99 },
    { statuses: [99] },
    { eventType: "x".repeat(129) },
    { eventType: "a\0" },
    { eventId: "\0" },
    { pageToken: "eyJiZWZvcmUiOiIwMDAwMDAwMC0wMDAwLTAwMDAtMDAwMC0wMDAwMDAwMDAwMDAifQ" },
  ])("[OUT-11] refuses %j as invalid", async (search) => {
    expect(await rig.deliveries({ workspaceId: "w-any" }).listDeliveries(search).catch(codeOf)).toBe(
      Code.InvalidArgument,
    );
  });
});
