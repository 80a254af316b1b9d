import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { UsageRecordSchema } from "@toolgate/gen/toolgate/events/v1/records_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertUsage } from "../../src/store/usage.ts";
import { codeOf, type RunningKeyAuth, runKeyAuth } from "../running-key-auth.ts";

const HOUR_MS = 3_600_000;
const NOW = Date.parse("2026-11-21T12:34:56.789Z");
const FIRST_HOUR = Date.parse("2026-11-20T13:00:00Z");

let keyAuth: RunningKeyAuth;
beforeAll(async () => {
  keyAuth = await runKeyAuth({ now: () => NOW });
});
afterAll(() => keyAuth?.[Symbol.asyncDispose]());

function usage(keyId: string, at: number, status: number, durationMs: number) {
  return create(UsageRecordSchema, { id: randomUUID(), keyId, tool: "t", status, durationMs, atMs: BigInt(at) });
}

test("[KEY-11] [LOG-6] the calls of the last 24 hours are counted by hour, with errors and durations, and without what the limit refused", async () => {
  const manager = keyAuth.as("manager");
  const { keyId } = await keyAuth.newKey();
  const unused = await keyAuth.newKey();
  const records = [
    usage(keyId, FIRST_HOUR - 1, 500, 9_000),
    usage(keyId, FIRST_HOUR, 200, 4),
    usage(keyId, NOW, 429, 0),
    // 100 calls of 1 to 100 ms, of which one got 403 and one 500.
    ...Array.from({ length: 100 }, (_, call) => usage(keyId, NOW - call, { 7: 403, 8: 500 }[call] ?? 200, call + 1)),
  ];
  await insertUsage(keyAuth.pool, records, new Date(0));
  const ids = [keyId, unused.keyId, "no-id"];
  const { firstHour, counts } = await keyAuth.keys().getHourlyCounts({ ids }, manager);
  expect(firstHour && timestampMs(firstHour)).toBe(FIRST_HOUR);
  const shown = counts.map(({ id, hour, count, errors, p50Ms, p99Ms }) => {
    const place = ((hour ? timestampMs(hour) : 0) - FIRST_HOUR) / HOUR_MS;
    return { id, place, count, errors, p50Ms, p99Ms };
  });
  expect(shown).toEqual([
    { id: keyId, place: 0, count: 1n, errors: 0n, p50Ms: 4, p99Ms: 4 },
    { id: keyId, place: 23, count: 100n, errors: 2n, p50Ms: 50, p99Ms: 99 },
  ]);
  const tooMany = keyAuth.keys().getHourlyCounts({ ids: Array(51).fill(keyId) }, manager);
  expect(await codeOf(tooMany)).toBe(Code.InvalidArgument);
});

test("[KEY-11] of an hour with many calls all are counted, and the errors are estimated from the last ones", async () => {
  const { keyId } = await keyAuth.newKey();
  const records = Array.from({ length: 1_000 }, (_, call) =>
    usage(keyId, NOW - call, call % 10 === 0 ? 500 : 200, call < 500 ? 20 : 8_000),
  );
  await insertUsage(keyAuth.pool, records, new Date(0));
  const { counts } = await keyAuth.keys().getHourlyCounts({ ids: [keyId] }, keyAuth.as("manager"));
  expect(counts).toMatchObject([{ count: 1_000n, errors: 100n, p50Ms: 20, p99Ms: 20 }]);
});
