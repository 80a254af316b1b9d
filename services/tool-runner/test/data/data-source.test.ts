import { EventEmitter } from "node:events";
import { Code } from "@connectrpc/connect";
import { QueryMode } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { createSecretBox } from "@toolgate/secret-box/secret-box";
import { eventually } from "@toolgate/testbed/eventually";
import { type HostilePostgres, startHostilePostgres } from "@toolgate/testbed/servers/hostile-postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { argumentValues } from "../../src/domain/data/named-parameters.ts";
import { createDataSources, dataSourceContext } from "../../src/execution/data-sources/data-sources.ts";
import { createFindServer } from "../../src/execution/data-sources/find-server.ts";
import type { StatementResult } from "../../src/execution/data-sources/run-statement.ts";
import { startToolRunnerRig, type ToolRunnerRig } from "../tool-runner-rig.ts";

const CONCURRENT_CALLS = 6;

let runner: ToolRunnerRig;
let hostile: HostilePostgres;
beforeAll(async () => {
  runner = await startToolRunnerRig();
  hostile = await startHostilePostgres();
  const sql = "select n from generate_series(1, (:count)::int) n";
  await runner.dataSource.savePreparedQuery({ query: { name: "rows", sql } });
  const wide = "select repeat('x', 1000000) as text from generate_series(1, (:count)::int)";
  await runner.dataSource.savePreparedQuery({ query: { name: "wide", sql: wide } });
  for (const query of ["rows", "wide"]) {
    const parameters = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] };
    await runner.saveTool(query, { external_api: true, query, parameters, timeout_ms: 1_500 });
    await runner.saveTool(`${query}_handler`, {
      external_api: true,
      handler: `export default async ({ count }, ctx) => {
        try { return { ok: (await ctx.executePreparedQuery("${query}", { count })).row_count }; }
        catch (error) { return { code: error.code }; }
      };`,
      parameters,
    });
  }
});
afterAll(async () => {
  await hostile?.[Symbol.asyncDispose]();
  await runner?.[Symbol.asyncDispose]();
});

const STATEMENT = { text: "select 1 as one", values: [], readOnly: true, keep: false, timeoutMs: 25_000 };

function ownSources(redis = new EventEmitter()) {
  const { allowedDataSources, sealingKeys: keys } = runner.config;
  const findServer = createFindServer(allowedDataSources);
  return createDataSources({
    pool: runner.pool,
    secretBox: createSecretBox({ keys }),
    findServer,
    redis,
    now: () => 0,
  });
}

const rowsOf = async (running: Promise<StatementResult>) => JSON.parse((await running).rowsJson);

const use = (url: string) => runner.dataSource.setDataSource({ url });

test("[SSRF-4] a URL that names another host in its query is refused when it is saved, and when it is used", async () => {
  const secretBox = createSecretBox({ keys: runner.config.sealingKeys });
  const elsewhere = `${runner.dataUrl}?host=127.0.0.1&port=${hostile.port}`;
  await expect(use(elsewhere)).rejects.toMatchObject({ code: Code.InvalidArgument });
  await use(runner.dataUrl);
  await runner.pool.query("update tool_runner.data_sources set sealed_url = $1 where workspace_id = $2", [
    secretBox.seal(elsewhere, dataSourceContext(runner.workspaceId)),
    runner.workspaceId,
  ]);
  const before = hostile.connections;
  expect(await runner.resultOf({ tool: "rows_handler", args: { count: 1 } })).toEqual({ code: "DATA_SOURCE" });
  expect(hostile.connections).toBe(before);
});

test("[DATA] an admin sees where the data source is and what is wrong with it, and never its password", async () => {
  await use(runner.dataUrl);
  const { hostname, port, username, password, pathname } = new URL(runner.dataUrl);
  const { source } = await runner.dataSource.getDataSource({});
  expect(source).toMatchObject({ host: hostname, port: Number(port), user: username, database: pathname.slice(1) });
  expect(await runner.dataSource.testDataSource({})).toMatchObject({
    error: "",
    serverVersion: expect.stringMatching(/^PostgreSQL \d/),
  });
  const errorOf = async (url: string) => (await runner.dataSource.testDataSource({ url })).error;
  expect(await errorOf("postgres://ada:secret@10.0.0.1/shop")).toBe("address not allowed or not resolvable");
  expect(await errorOf(runner.dataUrl.replace(pathname, "/nowhere"))).toMatch(/"nowhere" does not exist/);
  hostile.behave({ at: "connect", how: "hang-up" });
  const refused = await errorOf(hostile.url);
  hostile.behave(undefined);
  expect(refused).not.toBe("");
  if (password)
    expect(
      Object.values(source ?? {})
        .concat(refused)
        .join(),
    ).not.toContain(password);
});

test("[DATA] a dry run shows a query's rows or the database's error, and changes nothing", async () => {
  await use(runner.dataUrl);
  const dryRun = (sql: string, mode: QueryMode, parameters = {}) =>
    runner.dataSource.dryRunQuery({ query: { name: "draft", sql, mode }, parameters });
  const { rowsJson, rowCount } = await dryRun("select (:n)::int * 2 as twice", QueryMode.READ, { n: 21 });
  expect({ rows: JSON.parse(rowsJson), rowCount }).toEqual({ rows: [{ twice: 42 }], rowCount: 1 });
  const create = "create table made_by_dry_run (n int)";
  expect((await dryRun(create, QueryMode.READ)).error).toMatch(/read-only transaction/);
  expect((await dryRun(create, QueryMode.WRITE)).error).toBe("");
  expect((await dryRun("select * from made_by_dry_run", QueryMode.READ)).error).toMatch(/does not exist/);
  await expect(dryRun("select 1; select 2", QueryMode.READ)).rejects.toMatchObject({ code: Code.InvalidArgument });
});

test("[SSRF] a data source that must use TLS but does not is refused", async () => {
  await use(`${hostile.url}?sslmode=require`);
  expect(await runner.resultOf({ tool: "rows_handler", args: { count: 1 } })).toEqual({ code: "DATA_SOURCE" });
});

test("[TOOL] a result with too many rows or bytes is refused, and the data source stays usable", async () => {
  await use(runner.dataUrl);
  const rows = (count: number) => runner.resultOf({ tool: "rows_handler", args: { count } });
  expect(await rows(1_000)).toEqual({ ok: 1_000 });
  expect(await rows(1_001)).toEqual({ code: "TOO_MANY_ROWS" });
  // Their bytes end the connection.
  expect(await rows(400_000)).toEqual({ code: "TOO_MANY_ROWS" });
  const wide = { tool: "wide_handler", args: { count: 900 } };
  expect(await runner.resultOf(wide)).toEqual({ code: "RESULT_TOO_LARGE" });
  expect(await rows(1)).toEqual({ ok: 1 });
});

test.each([
  ["connect", "hang-up"],
  ["query", "hang-up"],
  ["idle", "hang-up"],
  ["begin", "garbage"],
  ["idle", "garbage"],
  ["connect", "flood"],
  ["query", "flood"],
  ["query", "huge-row"],
] as const)(
  "[ERR] a data source that misbehaves at %s (%s) loses its connection and affects nothing else",
  async (at, how) => {
    await use(hostile.url);
    hostile.behave({ at, how });
    // More than there are connections, so that none of them is lost for good.
    for (let round = 0; round < CONCURRENT_CALLS; round += 1) {
      const { outcome } = await runner.call({ tool: "rows", args: { count: 1 } });
      if (at !== "idle") expect(outcome.case).toBe("toolFailed");
    }
    hostile.behave(undefined);
    await eventually(
      async () => (await runner.call({ tool: "rows", args: { count: 1 } })).outcome.case === "resultJson",
    );
  },
);

test.each(["connect", "query"] as const)(
  "[TOOL] a data source that stops responding at %s delays a run up to the tool's limit, and leaks no connection",
  async (at) => {
    await use(hostile.url);
    const before = hostile.open;
    hostile.behave({ at, how: "mute" });
    const calls = Array.from({ length: CONCURRENT_CALLS }, () => runner.call({ tool: "rows", args: { count: 1 } }));
    for (const { outcome } of await Promise.all(calls)) expect(outcome.case).toBe("toolFailed");
    await eventually(() => hostile.open <= before);
    hostile.behave(undefined);
    // The tool's limit is short: on a busy machine a call may miss it.
    await eventually(async () => {
      const { outcome } = await runner.call({ tool: "rows", args: { count: 1 } });
      return outcome.case === "resultJson";
    });
  },
);

test("[TOOL] a query ends with the run that started it", async () => {
  await using sources = ownSources();
  await use(hostile.url);
  hostile.behave({ at: "query", how: "mute" });
  const { open, connections } = hostile;
  const run = new AbortController();
  const running = sources.run({ workspaceId: runner.workspaceId, epoch: 0n }, STATEMENT, run.signal);
  const failed = expect(running).rejects.toMatchObject({ code: "CANCELLED" });
  await eventually(() => hostile.connections > connections);
  run.abort();
  await failed;
  await eventually(() => hostile.open <= open);
  hostile.behave(undefined);
});

test("[LIVE] after a reconnect to Redis a new data source is used immediately, under any epoch", async () => {
  const redis = new EventEmitter();
  await using sources = ownSources(redis);
  const scope = { workspaceId: runner.workspaceId, epoch: 5n };
  await use(runner.dataUrl);
  expect(await rowsOf(sources.run(scope, STATEMENT))).toEqual([{ one: 1 }]);
  await use(hostile.url);
  hostile.behave(undefined);
  redis.emit("ready");
  expect(await rowsOf(sources.run(scope, STATEMENT))).toEqual([{}]);
});

test("[TOOL] a run finds a connection without the settings, locks and temporary tables of the run before", async () => {
  await using sources = ownSources();
  await use(runner.dataUrl);
  const scope = { workspaceId: runner.workspaceId, epoch: 7n };
  const run = async (text: string) =>
    (await rowsOf(sources.run(scope, { ...STATEMENT, text, readOnly: false, keep: true })))[0] ?? {};
  const pids = new Set<unknown>();
  for (let round = 0; round < 6; round += 1) {
    await run("select set_config('search_path', 'pg_temp', false), pg_advisory_lock(4711)");
    await run("create temporary table left_over (n int)");
    const state = await run(`select pg_backend_pid() as pid, current_setting('search_path') as path,
      to_regclass('pg_temp.left_over') is null as clean`);
    pids.add(state.pid);
    expect(state).toMatchObject({ path: '"$user", public', clean: true });
  }
  // Connections are reused, so this is not because each run had its own.
  expect(pids.size).toBeLessThanOrEqual(4);
  const locks = "select count(*)::int as locks from pg_locks where locktype = 'advisory' and objid = 4711";
  await eventually(async () => (await run(locks)).locks === 0);
});

test("[RO-3] the text of a reading query that has several statements is refused whole, with and without lists", async () => {
  await use(runner.dataUrl);
  await using sources = ownSources();
  const scope = { workspaceId: runner.workspaceId, epoch: 7n };
  const more = "; commit; create table smuggled (n int)";
  for (const [text, values] of [
    ["select 1", []],
    ["select $1::int", [1]],
    ["select $1::int[]", [[1]]],
  ] as const) {
    const run = (added: string) => sources.run(scope, { ...STATEMENT, text: text + added, values: [...values] });
    await expect(run(more)).rejects.toMatchObject({ code: "QUERY_FAILED", message: expect.stringContaining("42601") });
    expect(await rowsOf(run(""))).toHaveLength(1);
  }
  const { rows } = await runner.data.query("select to_regclass('smuggled') as found");
  expect(rows).toEqual([{ found: null }]);
});

/** The only row of a statement, as a list. */
async function rowOf(text: string, values: unknown[] = []): Promise<unknown[]> {
  await use(runner.dataUrl);
  await using sources = ownSources();
  const scope = { workspaceId: runner.workspaceId, epoch: 7n };
  const [row] = await rowsOf(sources.run(scope, { ...STATEMENT, text, values }));
  return Object.values(row);
}

const VALUES: [sql: string, value: unknown][] = [
  ["9223372036854775807::int8", "9223372036854775807"],
  ["array[9007199254740993, null]::int8[]", ["9007199254740993", null]],
  ["array['NaN', 1.10]::numeric[]", ["NaN", "1.10"]],
  ["'Infinity'::float4", "Infinity"],
  ["array[date '0044-03-15 BC', 'infinity']", ["0044-03-15 BC", "infinity"]],
  ["timestamp '2026-03-29 02:30:00.123456'", "2026-03-29T02:30:00.123456"],
  ["array[timestamptz '2026-03-29 02:30:00.5Z']", [expect.stringMatching(/^2026-03-29T0\d:30:00\.5(?:Z|\+\d\d:00)$/)]],
  [String.raw`'\xff00'::bytea`, String.raw`\xff00`],
  ["42::int4", 42],
  [`'{"a":[1,2.5]}'::jsonb`, { a: [1, 2.5] }],
  [`'{"a":1234567890123456789}'::jsonb`, '{"a": 1234567890123456789}'],
];

test("[TOOL] the values of a query arrive as they are", async () => {
  const columns = VALUES.map(([sql], index) => `${sql} as v${index}`);
  expect(await rowOf(`select ${columns.join()}`)).toEqual(VALUES.map(([, value]) => value));
});

const ARGUMENTS: [sql: string, argument: unknown, value: unknown][] = [
  ["$::jsonb", [], []],
  ["$::jsonb", [1, "a", null], [1, "a", null]],
  ["$::json", [[], { a: [] }], [[], { a: [] }]],
  ["$::jsonb", { a: [] }, { a: [] }],
  ["to_jsonb($::int[])", [1, 2], [1, 2]],
  ["to_jsonb($::text[])", ["a", null], ["a", null]],
  ["to_jsonb($::jsonb[])", [1, { a: 1 }], [1, { a: 1 }]],
];

test("[TOOL] arguments reach a query as they are", async () => {
  const columns = ARGUMENTS.map(([sql], index) => `${sql.replace("$", () => `$${index + 1}`)} as v${index}`);
  const given = Object.fromEntries(ARGUMENTS.map(([, argument], index) => [`v${index}`, argument]));
  const bound = argumentValues(Object.keys(given), given);
  expect(await rowOf(`select ${columns.join()}`, bound)).toEqual(ARGUMENTS.map(([, , value]) => value));
});
