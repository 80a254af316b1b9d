import { randomUUID } from "node:crypto";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ensureDailyPartitions } from "@toolgate/postgres/partitions";
import { eventually } from "@toolgate/testbed/eventually";
import { expect, test } from "vitest";
import { maintainPartitions } from "../../src/events/daily-job.ts";
import { USAGE_TABLE } from "../../src/store/usage.ts";
import { runKeyAuth } from "../running-key-auth.ts";

const DAY_MS = 86_400_000;

test("[LOG-8] [LOG-9] calls are shown and kept for 90 times 24 hours, to the millisecond", async () => {
  const now = Date.parse("2026-11-21T12:34:56.789Z");
  await using keyAuth = await runKeyAuth({ now: () => now });
  const { keyId } = await keyAuth.newKey();
  const boundary = now - 90 * DAY_MS;
  const instants = [
    boundary + 3_600_000,
    boundary + 1,
    boundary,
    boundary - 1,
    boundary - DAY_MS,
    boundary - 5 * DAY_MS,
  ];
  for (const at of instants) {
    await ensureDailyPartitions(keyAuth.pool, { table: USAGE_TABLE, from: new Date(at), days: 1 });
    await keyAuth.pool.query(
      `insert into ${USAGE_TABLE} (id, key_id, tool, status, duration_ms, ip, at) values ($1, $2, 'echo', 200, 1, '', $3)`,
      [randomUUID(), keyId, new Date(at)],
    );
  }
  const shown = async () => {
    const { calls } = await keyAuth.keys().listKeyCalls({ keyId }, keyAuth.as("manager"));
    return calls.map(({ at }) => at && timestampDate(at).getTime());
  };
  expect(await shown()).toEqual(instants.slice(0, 3));
  for (let run = 0; run < 2; run += 1) {
    await maintainPartitions(keyAuth.pool, new Date(now));
    const left = await keyAuth.pool.query(`select at from ${USAGE_TABLE} order by at desc`);
    expect(left.rows.map(({ at }) => at.getTime())).toEqual(instants.slice(0, 3));
  }
  expect(await shown()).toEqual(instants.slice(0, 3));
});

test("[LOG-9] the service runs the daily job", async () => {
  let ahead = 0;
  await using keyAuth = await runKeyAuth({ now: () => Date.now() + ahead, dailyJobEveryMs: 20 });
  const { rows } = await keyAuth.pool.query("select current_date::text as today");
  const partition = (days: number) => {
    const day = new Date(Date.parse(rows[0].today) + days * DAY_MS).toISOString().slice(0, 10);
    return `${USAGE_TABLE}_${day.replaceAll("-", "")}`;
  };
  const exists = async (name: string) =>
    (await keyAuth.pool.query("select to_regclass($1) is not null as it", [name])).rows[0].it;
  ahead = 30 * DAY_MS;
  await eventually(() => exists(partition(37)));
  ahead = 100 * DAY_MS;
  await eventually(async () => !(await exists(partition(7))));
  expect(await exists(partition(37))).toBe(true);
});
