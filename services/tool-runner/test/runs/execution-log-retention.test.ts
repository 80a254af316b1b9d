import { randomUUID } from "node:crypto";
import { ensureDailyPartitions } from "@toolgate/postgres/partitions";
import { eventually } from "@toolgate/testbed/eventually";
import { describe, expect, it } from "vitest";
import { maintainPartitions } from "../../src/events/daily-partitions.ts";
import { EXECUTIONS_TABLE } from "../../src/store/executions.ts";
import { IDEMPOTENT_CALLS_TABLE } from "../../src/store/idempotent-calls.ts";
import { startToolRunnerRig } from "../tool-runner-rig.ts";

const DAY_MS = 86_400_000;

describe("retention of the log", () => {
  it("[LOG-8] runs are shown and kept for 90 times 24 hours, to the millisecond", async () => {
    await using runner = await startToolRunnerRig();
    // In the future, so that the daily job at the start drops none of these rows.
    const now = Math.ceil(Date.now() / DAY_MS) * DAY_MS + Date.parse("1970-01-01T12:34:56.789Z");
    runner.clock.stopAt(now);
    const boundary = now - 90 * DAY_MS;
    const instants = [boundary + 3_600_000, boundary + 1, boundary, boundary - 1, boundary - DAY_MS];
    const ids = instants.map(() => randomUUID());
    for (const [index, at] of instants.entries()) {
      await ensureDailyPartitions(runner.pool, { table: EXECUTIONS_TABLE, from: new Date(at), days: 1 });
      await runner.pool.query(
        `insert into ${EXECUTIONS_TABLE} (id, workspace_id, tool, tool_version, entry_type, chat_id, caller_id, started_at,
           duration_ms, success, error, args, result, read_only)
         values ($1, $2, 'old', 1, 'api_key', '', '', $3, 1, true, '', '{}', '{}', true)`,
        [ids[index], runner.workspaceId, new Date(at)],
      );
    }
    const listed = async () => (await runner.executions.listExecutions({})).executions.map(({ id }) => id);
    const found = (index: number) =>
      runner.executions.getExecution({ executionId: ids[index] ?? "" }).then(
        () => true,
        () => false,
      );
    expect(await listed()).toEqual(ids.slice(0, 3));
    expect([await found(2), await found(3)]).toEqual([true, false]);
    for (let round = 0; round < 2; round += 1) {
      await maintainPartitions(runner.pool, new Date(now));
      const left = await runner.pool.query(`select id from ${EXECUTIONS_TABLE} order by started_at desc`);
      expect(left.rows.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    }
  });

  it("[LOG-8] [LOG-9] the service creates partitions ahead and drops expired ones", async () => {
    await using runner = await startToolRunnerRig({ partitionsEveryMs: 20 });
    const today = Date.now();
    const exists = async (table: string, day: number) => {
      const suffix = new Date(today + day * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "");
      const { rows } = await runner.pool.query("select to_regclass($1) is not null as it", [`${table}_${suffix}`]);
      return rows[0].it;
    };
    runner.clock.stopAt(today + 90 * DAY_MS);
    await eventually(() => exists(EXECUTIONS_TABLE, 97));
    await eventually(async () => !(await exists(EXECUTIONS_TABLE, -1)));
    await eventually(async () => !(await exists(IDEMPOTENT_CALLS_TABLE, 7)));
    expect(await exists(EXECUTIONS_TABLE, 0)).toBe(true);
  });
});
