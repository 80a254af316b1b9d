import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { EXECUTIONS_TABLE } from "../../src/store/executions.ts";
import { startToolRunnerRig } from "../tool-runner-rig.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

test("[LOG-10] the runs of the last 24 hours are counted by tool and hour, with failures and durations, up to 500 an hour", async () => {
  await using runner = await startToolRunnerRig();
  // The partitions of yesterday and today exist.
  const now = Math.floor(Date.now() / DAY_MS) * DAY_MS + Date.parse("1970-01-01T12:34:56.789Z");
  runner.clock.stopAt(now);
  const firstHour = Math.floor(now / HOUR_MS) * HOUR_MS - 23 * HOUR_MS;
  const runs = (tool: string, runCount: number, at: number, durationMs = "n", workspaceId = runner.workspaceId) =>
    runner.pool.query(
      `insert into ${EXECUTIONS_TABLE} (id, workspace_id, tool, tool_version, entry_type, chat_id, caller_id, started_at,
         duration_ms, success, error, args, result, read_only)
       select gen_random_uuid(), $1, $2, 1, 'api_key', '', '', $3::timestamptz, ${durationMs}, n > 10, '', '{}', '{}', true
       from generate_series(1, $4::int) as n`,
      [workspaceId, tool, new Date(at), runCount],
    );
  await runs("often", 100, now);
  await runs("often", 20, firstHour, "7");
  await runs("often", 1, firstHour - 1);
  await runs("more often", 600, now - HOUR_MS, "3");
  await runs("not asked for", 1, now);
  await runs("often", 1, now, "n", "00000000-0000-4000-8000-000000000000");
  const counted = await runner.executions.getHourlyCounts({ ids: ["often", "more often", "often", "never"] });
  expect(counted.firstHour && timestampMs(counted.firstHour)).toBe(firstHour);
  const shown = counted.counts.map(({ id, hour, count, errors, p50Ms, p99Ms }) => {
    const place = ((hour ? timestampMs(hour) : 0) - firstHour) / HOUR_MS;
    return [id, place, Number(count), Number(errors), p50Ms, p99Ms];
  });
  expect(shown.map((row) => row.filter((_, column) => row[0] !== "more often" || column !== 3)).sort()).toEqual([
    ["more often", 22, 500, 3, 3],
    ["often", 0, 20, 10, 7, 7],
    ["often", 23, 100, 10, 50, 99],
  ]);
  const tooMany = runner.executions.getHourlyCounts({ ids: Array(51).fill("often") });
  expect(await tooMany.catch((error) => ConnectError.from(error).code)).toBe(Code.InvalidArgument);
});
