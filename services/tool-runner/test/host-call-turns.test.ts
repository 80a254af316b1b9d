import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { Client } from "@toolgate/postgres/pool";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "./tool-runner-rig.ts";

const WRITING = { external_api: true, external_api_write: true, timeout_ms: 60_000 };
/** With the event that says that they have begun, as many as a run may make at a time. */
const CALLS_PER_RUN = 15;
const DATABASE_CALLS = 2;
const FETCHES = 32;

let runner: ToolRunnerRig;
let noisy: string;
let quiet: string;

beforeAll(async () => {
  runner = await startToolRunnerRig();
});
afterAll(() => runner?.[Symbol.asyncDispose]());
beforeEach(async () => {
  noisy = randomUUID();
  quiet = randomUUID();
  await runner.pool.query("truncate tool_runner.outbox");
  runner.receiver.behave(() => ({ body: "ok" }));
});

const saveTool = (workspace: string, name: string, definition: JsonObject) =>
  runner.as("admin", workspace).tools.saveTool({
    name,
    definition: { description: name, ...WRITING, ...definition },
    confirmExposure: true,
  });

/** A tool that makes many calls at once, and emits an event when all have begun. */
const manyCalls = (call: string) => `export default async ({ run }, ctx) => {
  const calls = Array.from({ length: ${CALLS_PER_RUN} }, (_, n) => ${call});
  await ctx.emitWebhook("begun", {});
  await Promise.all(calls);
  return { success: true };
};`;
const PARAMETERS = { type: "object", properties: { run: { type: "integer" } } };

const startRuns = (count: number, tool: string) =>
  Array.from({ length: count }, (_, run) => runner.call({ workspace: noisy, tool, args: { run } }));

const begunRuns = (count: number) =>
  eventually(async () => {
    const { rows } = await runner.pool.query("select count(*)::integer as events from tool_runner.outbox");
    expect(rows[0].events).toBe(count);
  });

/** Locks a sheet of the noisy workspace until it is disposed, as a write does that does not end. */
async function lockSheet(sheet: string): Promise<AsyncDisposable> {
  await runner.pool.query("insert into tool_runner.sheets (workspace_id, name) values ($1, $2)", [noisy, sheet]);
  const client: Client = await runner.pool.connect();
  await client.query("begin");
  await client.query("select from tool_runner.sheets where workspace_id = $1 for update", [noisy]);
  return {
    async [Symbol.asyncDispose]() {
      await client.query("rollback");
      client.release();
    },
  };
}

async function waitingForLocks(): Promise<number> {
  const select = `select count(*)::integer as n from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  return (await runner.pool.query(select)).rows[0].n;
}

async function cellsOf(workspace: string): Promise<number> {
  const select = "select count(*)::integer as n from tool_runner.sheet_cells where workspace_id = $1";
  return (await runner.pool.query(select, [workspace])).rows[0].n;
}

test("300 writes that wait for one row keep nobody else from the database", async () => {
  const handler = manyCalls('ctx.writeToSheet("busy", "A" + (run * 100 + n + 1), [[n]])');
  await saveTool(noisy, "fill", { parameters: PARAMETERS, handler });
  await saveTool(quiet, "write", {
    handler: `export default async (_, ctx) => {
      await ctx.writeToSheet("own", "A1", [["x"]]);
      await ctx.emitWebhook("written", {});
      return (await ctx.readSheet("own"));
    };`,
  });
  await using _lock = await lockSheet("busy");
  void Promise.allSettled(startRuns(20, "fill"));
  await begunRuns(20);
  await eventually(async () => expect(await waitingForLocks()).toBe(DATABASE_CALLS));

  expect(await runner.resultOf({ workspace: quiet, tool: "write", idempotencyKey: "once" })).toEqual({
    values: [["x"]],
  });
  expect((await runner.as("admin", quiet).tools.listTools({})).tools.length).toBe(1);
  await runner.replicas[0]?.ready();
  expect(await waitingForLocks()).toBe(DATABASE_CALLS);
  expect(await cellsOf(noisy)).toBe(0);
});

test("writes of a run that has ended leave the queue", async () => {
  const handler = manyCalls('ctx.writeToSheet("busy", "A" + (n + 1), [[n]])');
  await saveTool(noisy, "fill_soon", { parameters: PARAMETERS, handler, timeout_ms: 3_000 });
  await saveTool(noisy, "write", {
    handler: `export default async (_, ctx) => {
      await ctx.writeToSheet("busy", "B1", [["last"]]);
      return { success: true };
    };`,
  });
  {
    await using _lock = await lockSheet("busy");
    const [run] = startRuns(1, "fill_soon");
    await eventually(async () => expect(await waitingForLocks()).toBe(DATABASE_CALLS));
    expect((await run)?.outcome.case).toBe("toolFailed");
  }
  // Would come after all others.
  await runner.resultOf({ workspace: noisy, tool: "write" });
  await eventually(async () => expect(await waitingForLocks()).toBe(0));
  expect(await cellsOf(noisy)).toBeLessThanOrEqual(DATABASE_CALLS + 1);
});

test("a workspace receives so many responses at a time, also for API tools, and another one does not wait for them", async () => {
  const { receiver } = runner;
  const released = Promise.withResolvers<void>();
  receiver.behave(({ path }) => (path === "/hang" ? { after: released.promise, body: "ok" } : { body: "ok" }));
  const arrived = (path: string) => receiver.requests.filter((request) => request.path === path).length;
  await saveTool(noisy, "hang", {
    parameters: PARAMETERS,
    handler: manyCalls(`ctx.fetch("${receiver.url}/hang")`),
  });
  await saveTool(noisy, "api", { api: { method: "GET", url: `${receiver.url}/api` }, timeout_ms: 1_000 });
  await saveTool(quiet, "api", { api: { method: "GET", url: `${receiver.url}/quiet` } });
  const runs = startRuns(4, "hang");
  await begunRuns(4);
  await eventually(() => expect(arrived("/hang")).toBe(FETCHES));

  expect((await runner.call({ workspace: noisy, tool: "api" })).outcome.case).toBe("toolFailed");
  expect(await runner.resultOf({ workspace: quiet, tool: "api" })).toMatchObject({ success: true });
  expect(arrived("/hang")).toBe(FETCHES);
  expect(arrived("/api")).toBe(0);
  released.resolve();
  for (const { outcome } of await Promise.all(runs)) expect(outcome.case).toBe("resultJson");
  expect(arrived("/hang")).toBe(4 * CALLS_PER_RUN);
});
