import { randomUUID } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { publishDurably } from "@toolgate/event-bus/batching-publisher";
import { type Bus, connectBus } from "@toolgate/event-bus/connect";
import { UsageBatchSchema, type UsageRecord, UsageRecordSchema } from "@toolgate/gen/toolgate/events/v1/records_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { testNats } from "@toolgate/testbed/servers/servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { maintainPartitions } from "../../src/events/daily-job.ts";
import { countCalls, insertUsage, USAGE_TABLE } from "../../src/store/usage.ts";
import { codeOf, newUser, type RunningKeyAuth, runKeyAuth } from "../running-key-auth.ts";

const DAY_MS = 86_400_000;

let shared: RunningKeyAuth;
beforeAll(async () => {
  shared = await runKeyAuth();
});
afterAll(() => shared[Symbol.asyncDispose]());

function usage(keyId: string, status: number, at = Date.now()) {
  return create(UsageRecordSchema, {
    id: randomUUID(),
    keyId,
    tool: "echo",
    status,
    durationMs: 7,
    ip: "203.0.113.0",
    atMs: BigInt(at),
  });
}

/** Publishes messages as gateways do. */
async function publish(bus: Bus, ...messages: UsageRecord[][]): Promise<void> {
  for (const records of messages) {
    await publishDurably(bus, "records.usage", toBinary(UsageBatchSchema, create(UsageBatchSchema, { records })));
  }
}

describe("calls with status 200, 403 and 429 whose batch arrives several times", () => {
  let keyAuth: RunningKeyAuth;
  let keyId: string;
  let records: UsageRecord[];
  const resources = new AsyncDisposableStack();
  beforeAll(async () => {
    const nats = resources.use(await testNats());
    keyAuth = resources.use(await runKeyAuth({ natsUrl: nats.url }));
    const bus = resources.use(await connectBus({ servers: nats.url, name: "test" }));
    ({ keyId } = await keyAuth.newKey());
    const now = Date.now();
    records = [usage(keyId, 200, now - 5_000), usage(keyId, 403, now - 4_000), usage(keyId, 429, now)];
    // The consumer has processed every copy once it has written the record after them.
    const last = usage(randomUUID(), 200);
    await publish(bus, records, records, records, [last]);
    await eventually(async () => {
      const written = await keyAuth.pool.query(`select 1 from ${USAGE_TABLE} where id = $1`, [last.id]);
      return written.rows.length > 0;
    });
  });
  afterAll(() => resources.disposeAsync());

  test("[LOG-1] [LOG-2] [LOG-3] each call has one row in api_key_requests, under its key", async () => {
    const { rows } = await keyAuth.pool.query(
      "select id from key_auth.api_key_requests where key_id = $1 order by at",
      [keyId],
    );
    expect(rows).toEqual(records.map(({ id }) => ({ id })));
  });

  test("[LOG-4] [LOG-5] [LOG-6] [LOG-7] each call is shown with tool, status, duration and shortened address", async () => {
    const { calls } = await keyAuth.keys().listKeyCalls({ keyId }, keyAuth.as("manager"));
    expect(calls.map(({ tool, status, durationMs, ip }) => [tool, status, durationMs, ip])).toEqual(
      [429, 403, 200].map((status) => ["echo", status, 7, "203.0.113.0"]),
    );
  });

  test("[KEY-9] [KEY-11] [KEY-12] [LIMIT-11] the call that the limit refused is not counted, but is the last use", async () => {
    const { key } = await keyAuth.keys().getKey({ keyId }, keyAuth.as("manager"));
    expect(key).toMatchObject({ callsTotal: 2n, callsLast24h: 2n });
    expect(key?.lastUsedAt?.seconds).toBe(BigInt(Math.floor(Number(records[2]?.atMs) / 1000)));
  });
});

test("[LOG-2] [KEY-12] a call that tool-runner recorded with 200, but whose client got 500, is one row with 500, counted once, whenever the correction comes", async () => {
  await using nats = await testNats();
  await using keyAuth = await runKeyAuth({ natsUrl: nats.url });
  await using bus = await connectBus({ servers: nats.url, name: "test" });
  for (const when of ["before", "after", "with"] as const) {
    const { keyId } = await keyAuth.newKey({ name: when });
    const early = usage(keyId, 200);
    const correction = { ...early, status: 500, durationMs: 9, corrects: true };
    const last = usage(keyId, 400);
    const batches = {
      before: [[correction], [early], [correction], [last]],
      after: [[early], [correction], [early], [last]],
      with: [[early, correction], [correction, early], [last]],
    }[when];
    await publish(bus, ...batches);
    await eventually(async () => {
      const { rows } = await keyAuth.pool.query(
        "select id, status, duration_ms from key_auth.api_key_requests where key_id = $1 order by status",
        [keyId],
      );
      expect(rows).toEqual([
        { id: last.id, status: 400, duration_ms: 7 },
        { id: early.id, status: 500, duration_ms: 9 },
      ]);
    });
    const { key: counted } = await keyAuth.keys().getKey({ keyId }, keyAuth.as("manager"));
    expect(counted).toMatchObject({ callsTotal: 2n, callsLast24h: 2n });
  }
});

test("[KEY-10] [KEY-13] a key keeps its last use and total when its calls are deleted", async () => {
  await using keyAuth = await runKeyAuth();
  const { keyId } = await keyAuth.newKey();
  const at = Date.now();
  await insertUsage(keyAuth.pool, [usage(keyId, 200, at), usage(keyId, 200, at - 1)], new Date(at - DAY_MS));
  await maintainPartitions(keyAuth.pool, new Date(at + 100 * DAY_MS));
  expect((await keyAuth.pool.query(`select 1 from ${USAGE_TABLE}`)).rows).toEqual([]);
  const { key: kept } = await keyAuth.keys().getKey({ keyId }, keyAuth.as("manager"));
  expect(kept?.callsTotal).toBe(2n);
  expect(kept?.lastUsedAt?.seconds).toBe(BigInt(Math.floor(at / 1000)));
});

test("[KEY-11] [MGMT-16] the calls of the last 24 hours are counted to the millisecond", async () => {
  const now = Date.parse("2026-11-21T12:34:56.789Z");
  await using keyAuth = await runKeyAuth({ now: () => now });
  const { keyId } = await keyAuth.newKey();
  const since = now - DAY_MS;
  const instants = [since - 1, since, since + 1, since + 3_210, since + 3_211, since + 3_212, now - 1, now];
  for (let distance = 1_000; distance < DAY_MS; distance *= 1.7) instants.push(since + Math.round(distance));
  const records = instants.flatMap((at) => [usage(keyId, 200, at), usage(keyId, 429, at)]);
  const batches = [records.slice(0, 9), records.slice(5, 30), records.slice(20)];
  for (const batch of batches) await insertUsage(keyAuth.pool, batch, new Date(since));
  const expected = instants.filter((at) => at > since).length;
  const counted = (await keyAuth.keys().getKey({ keyId }, keyAuth.as("manager"))).key;
  expect(counted?.callsLast24h).toBe(BigInt(expected));
  expect(counted?.callsTotal).toBe(BigInt(instants.length));
  for (let later = 1; later < DAY_MS; later = later * 3 + 17) {
    const counts = await countCalls(keyAuth.pool, [keyId], new Date(since + later));
    expect(counts.get(keyId) ?? 0).toBe(instants.filter((at) => at > since + later).length);
  }
});

test("[LOG-2] [KEY-12] replicas that write the same calls at the same time count each once and never deadlock", async () => {
  const keyAuth = shared;
  const ids: string[] = [];
  for (let key = 0; key < 3; key += 1) ids.push((await keyAuth.newKey()).keyId);
  const records = Array.from({ length: 300 }, (_, call) => usage(ids[call % 3] ?? "", 200, Date.now() - call * 7_000));
  const since = new Date(Date.now() - DAY_MS);
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    const own = writer % 2 === 0 ? records : records.toReversed();
    for (let start = 0; start < own.length; start += 30) {
      await insertUsage(keyAuth.pool, own.slice(start, start + 30), since);
    }
  });
  await Promise.all(writers);
  for (const keyId of ids) {
    const { key } = await keyAuth.keys().getKey({ keyId }, keyAuth.as("manager"));
    expect(key).toMatchObject({ callsTotal: 100n, callsLast24h: 100n });
  }
});

test("[MGMT-20] [MGMT-21] [MGMT-22] the last 50 calls of a key are shown newest first, with status and duration", async () => {
  const keyAuth = shared;
  const { keyId } = await keyAuth.newKey();
  const records = Array.from({ length: 60 }, (_, call) => ({
    ...usage(keyId, 200 + call, Date.now() - call * 1_000),
    durationMs: call,
  }));
  const others = [usage(randomUUID(), 500)];
  await insertUsage(keyAuth.pool, [...records.toReversed(), ...others], new Date(0));
  const { calls } = await keyAuth.keys().listKeyCalls({ keyId }, keyAuth.as("manager"));
  expect(calls.map(({ status, durationMs }) => [status, durationMs])).toEqual(
    Array.from({ length: 50 }, (_, call) => [200 + call, call]),
  );
});

test("[LOG-3] the calls of one HTTP request are found without knowing the key, in the own workspace only", async () => {
  const keyAuth = shared;
  const [{ keyId: a }, { keyId: b }] = [await keyAuth.newKey(), await keyAuth.newKey()];
  const now = Date.now();
  const records = [
    { ...usage(a, 200, now - 1), requestId: "one" },
    { ...usage(b, 403, now), requestId: "one" },
    { ...usage(a, 200, now), requestId: "two" },
    usage(a, 200, now),
  ];
  await insertUsage(keyAuth.pool, records, new Date(0));
  const found = async (request: { keyId?: string; requestId?: string }) =>
    (await keyAuth.keys().listKeyCalls(request, keyAuth.as("manager"))).calls.map(({ keyId, status }) => [
      keyId,
      status,
    ]);
  const ofOne = [
    [b, 403],
    [a, 200],
  ];
  expect(await found({ requestId: "one" })).toEqual(ofOne);
  expect(await found({ requestId: "one", keyId: a })).toEqual([[a, 200]]);
  expect(await found({ requestId: "none" })).toEqual([]);
  expect(await codeOf(keyAuth.keys().listKeyCalls({}, keyAuth.as("manager")))).toBe(Code.NotFound);
  const elsewhere = await keyAuth.keys().listKeyCalls({ requestId: "one" }, await newUser(keyAuth, "manager"));
  expect(elsewhere.calls).toEqual([]);
});
