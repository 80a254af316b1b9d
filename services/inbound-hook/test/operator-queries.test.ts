import { afterAll, beforeAll, expect, test } from "vitest";
import { operatorQueries } from "./operators-page.ts";
import { newBody } from "./receive-rig.ts";
import { type RunRig, startRunRig, type TestHook } from "./running/run-rig.ts";

let rig: RunRig;
let hook: TestHook;
let workspaceId: string;
let queries: string[];

beforeAll(async () => {
  queries = await operatorQueries();
  rig = await startRunRig({ instances: [["receiver"]] });
  const workspace = await rig.newWorkspace();
  workspaceId = workspace.id;
  hook = await workspace.createHook({ limit: 1_000 });
});
afterAll(() => rig?.[Symbol.asyncDispose]());

/** The rows of the query of this page that contains this text. */
async function rowsOf(part: string) {
  const found = queries.filter((query) => query.includes(part));
  expect(found).toHaveLength(1);
  return (await rig.pool.query(found[0] ?? "")).rows;
}

test("[IN-12] the operators' queries show what waits, what runs, what has failed and what is refused", async () => {
  expect(queries).toHaveLength(7);
  const ids = [await rig.accept(hook, newBody()), await rig.accept(hook, newBody()), await rig.accept(hook, newBody())];
  expect(await rowsOf("select count(*), now()")).toEqual([{ count: 3, oldest: expect.anything() }]);
  expect(await rowsOf("as running")).toMatchObject([{ workspace: workspaceId, running: 0, waiting: 3 }]);

  expect(await rowsOf("interval '10 seconds'")).toEqual([{ count: 0 }]);
  await rig.pool.query("update inbound_hook.tool_queue_item set lease_until = 'epoch' where item_id = $1", [ids[0]]);
  expect(await rowsOf("interval '10 seconds'")).toEqual([{ count: 1 }]);
  expect(await rowsOf("as running")).toMatchObject([{ waiting: 2 }]);

  expect(await rowsOf("d.failure is not null")).toEqual([]);
  await rig.pool.query("update inbound_hook.delivery set status = 'failed' where id = any($1)", [ids.slice(1)]);
  expect(await rowsOf("d.failure is not null")).toMatchObject([{ failed: 2 }]);

  expect(await rowsOf("refused_in_a_row")).toEqual([]);
  await rig.pool.query("update inbound_hook.hook set refused_in_a_row = 7, refused_since = now() where id = $1", [
    hook.id,
  ]);
  expect(await rowsOf("refused_in_a_row")).toMatchObject([{ refused_in_a_row: 7 }]);

  const days = await rowsOf("pg_size_pretty");
  expect(days.map(({ relname }) => relname)).toContainEqual(expect.stringMatching(/^delivery_\d{8}$/));
  expect(days.map(({ relname }) => relname)).toContainEqual(expect.stringMatching(/^run_\d{8}$/));
});
