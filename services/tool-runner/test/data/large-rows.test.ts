import { randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { QueryMode } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EXECUTIONS_TABLE, findExecutionTree } from "../../src/store/executions.ts";
import { listPreparedQueries } from "../../src/store/prepared-queries.ts";
import { startToolRunnerRig, type ToolRunnerRig } from "../tool-runner-rig.ts";

const KIB = 1024;

let runner: ToolRunnerRig;
beforeAll(async () => {
  runner = await startToolRunnerRig();
});
afterAll(() => runner[Symbol.asyncDispose]());

/** First many small ones, which say nothing about the size of the others. */
async function insertQueries(small: number, large: number): Promise<void> {
  await runner.pool.query(
    `insert into tool_runner.prepared_queries (workspace_id, name, sql, mode, saved_by)
     select $1, 'n' || lpad(n::text, 4, '0'), 'select ''' || repeat('x', case when n <= $2 then 10 else 65000 end) || '''',
       case when n % 2 = 0 then 'read' else 'write' end, 'x'
     from generate_series(1, $2::int + $3::int) n`,
    [runner.workspaceId, small, large],
  );
}

test("[FAIR] a page of prepared queries is bounded in bytes, and all pages together have each query once", async () => {
  const [small, large] = [40, 12];
  await insertQueries(small, large);
  const maxBytes = 256 * KIB;
  const first = await listPreparedQueries(runner.pool, runner.workspaceId, { after: "", maxBytes });
  expect(first.length).toBe(small + 5);

  const sizes: number[] = [];
  const names: string[] = [];
  let pageToken = "";
  do {
    const page = await runner.dataSource.listPreparedQueries({ pageToken });
    sizes.push(page.queries.reduce((sum, { sql }) => sum + sql.length, 0));
    names.push(...page.queries.map(({ name }) => name));
    for (const { name, mode } of page.queries) {
      expect(mode).toBe(Number(name.slice(1)) % 2 === 0 ? QueryMode.READ : QueryMode.WRITE);
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(names).toEqual(Array.from({ length: small + large }, (_, at) => `n${String(at + 1).padStart(4, "0")}`));
  for (const size of sizes) expect(size).toBeLessThan(maxBytes + 64 * KIB);
  await expect(runner.dataSource.listPreparedQueries({ pageToken: "bogus" })).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});

test("[FAIR] of the runs that a run called, only those that are shown are read: the first ones, up to 1 MiB", async () => {
  const parent = randomUUID();
  const insert = (count: number, characters: number, after: string) =>
    runner.pool.query(
      `insert into ${EXECUTIONS_TABLE} (id, parent_id, workspace_id, tool, tool_version, entry_type, chat_id, caller_id,
         started_at, duration_ms, success, error, args, result, read_only)
       select gen_random_uuid(), $1, $2, 'nested', 1, 'api_key', '', '', now() + $4::interval + make_interval(secs => n),
         1, true, '', '{}', to_json(repeat('x', $5)), true
       from generate_series(1, $3) n`,
      [parent, runner.workspaceId, count, after, characters],
    );
  // The run itself is larger than all that is shown of the others.
  await runner.pool.query(
    `insert into ${EXECUTIONS_TABLE} (id, workspace_id, tool, tool_version, entry_type, chat_id, caller_id, started_at,
       duration_ms, success, error, args, result, read_only)
     values ($1, $2, 'outer', 1, 'api_key', '', '', now(), 1, true, '', '{}', to_json(repeat('x', 2000000)), true)`,
    [parent, runner.workspaceId],
  );
  await insert(100, 10, "0 minutes");
  await insert(150, 250 * KIB, "10 minutes");
  const rows = await findExecutionTree(runner.pool, runner.workspaceId, parent);
  expect(rows.length).toBe(1 + 100 + 4);
  expect(rows[0]).toMatchObject({ id: parent, tool: "outer" });
  const { execution, children, hasMoreChildren } = await runner.executions.getExecution({ executionId: parent });
  expect(execution?.id).toBe(parent);
  expect(hasMoreChildren).toBe(true);
  expect(children.map(({ id }) => id)).toEqual(rows.slice(1).map(({ id }) => id));
});

test("a page of the execution log has few rows if they are large, and the pages together have all of them", async () => {
  await runner.pool.query(
    `insert into ${EXECUTIONS_TABLE} (id, workspace_id, tool, tool_version, entry_type, chat_id, caller_id, started_at,
       duration_ms, success, error, args, result, read_only)
     select gen_random_uuid(), $1, 'talkative', 1, 'api_key', '', '', now() + make_interval(secs => n), 1, true, '', '{}',
       to_json(repeat('x', 100000)), true
     from generate_series(1, 4) n`,
    [runner.workspaceId],
  );
  const pages: string[][] = [];
  for (let pageToken: string | undefined = ""; pageToken !== undefined; ) {
    const page = await runner.executions.listExecutions({ tool: "talkative", pageSize: 100, pageToken });
    pages.push(page.executions.map(({ id }) => id));
    pageToken = page.nextPageToken || undefined;
  }
  expect(pages.length).toBeGreaterThan(1);
  expect(new Set(pages.flat()).size).toBe(4);
});
