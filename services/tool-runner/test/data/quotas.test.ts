import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "../tool-runner-rig.ts";

let runner: ToolRunnerRig;
beforeAll(async () => {
  runner = await startToolRunnerRig();
});
afterAll(() => runner[Symbol.asyncDispose]());

const HANDLER = { handler: "export default () => ({});" };

interface Quota {
  most: number;
  /** Creates one fewer than a workspace may have. */
  fill: string;
  save: (name: string) => Promise<unknown>;
  remove: (name: string) => Promise<unknown>;
  count: () => Promise<number>;
}

const quotas: Record<string, () => Quota> = {
  "prepared queries": () => ({
    most: 1_000,
    fill: `insert into tool_runner.prepared_queries (workspace_id, name, sql, mode, saved_by)
      select $1, 'n' || n, 'select 1', 'read', 'x' from generate_series(2, $2::int) as n`,
    save: (name) => runner.dataSource.savePreparedQuery({ query: { name, sql: "select 2" } }),
    remove: (name) => runner.dataSource.deletePreparedQuery({ name }),
    count: async () => (await runner.dataSource.listPreparedQueries({})).queries.length,
  }),
  secrets: () => ({
    most: 100,
    fill: `insert into tool_runner.secrets (workspace_id, name, sealed_value, hosts, saved_by)
      select $1, 'n' || n, '', '{}', 'x' from generate_series(2, $2::int) as n`,
    save: (name) => runner.dataSource.saveSecret({ name, value: "long enough", hosts: ["a.test"] }),
    remove: (name) => runner.dataSource.deleteSecret({ name }),
    count: async () => (await runner.dataSource.listSecrets({})).secrets.length,
  }),
  variables: () => ({
    most: 200,
    fill: `insert into tool_runner.variables (workspace_id, name, value, saved_by)
      select $1, 'n' || n, '', 'x' from generate_series(2, $2::int) as n`,
    save: (name) => runner.dataSource.saveVariable({ variable: { name, value: "v" } }),
    remove: (name) => runner.dataSource.deleteVariable({ name }),
    count: async () => (await runner.dataSource.listVariables({})).variables.length,
  }),
  tools: () => ({
    most: 2_000,
    fill: `with made as (
        insert into tool_runner.tools (workspace_id, name, version)
        select $1, 'n' || n, 1 from generate_series(2, $2::int) as n returning name)
      insert into tool_runner.tool_versions (workspace_id, name, version, definition, saved_by)
      select $1, name, 1, '{"handler": "export default () => ({});"}', 'x' from made`,
    save: (name) => runner.saveTool(name, HANDLER),
    remove: (name) => runner.tools.deleteTool({ name }),
    count: async () =>
      (await runner.pool.query("select count(*) as n from tool_runner.tools where deleted_at is null")).rows[0].n,
  }),
};

test.each(Object.keys(quotas))(
  "[TOOL] a workspace has a limited number of %s: one more is refused, all others are listed",
  async (what) => {
    const { most, fill, save, remove, count } = (quotas[what] as () => Quota)();
    await runner.pool.query(fill, [runner.workspaceId, most]);
    await save("n1");
    expect(await count()).toBe(most);
    await expect(save("more")).rejects.toMatchObject({
      code: Code.ResourceExhausted,
      rawMessage: `at most ${most} ${what}`,
    });
    await save("n1");
    expect(await count()).toBe(most);
    await remove("n1");
    await save("more");
    expect(await count()).toBe(most);
  },
);

test("[TOOL] restoring a deleted tool is refused like creating one, once there are as many as allowed", async () => {
  await expect(runner.tools.restoreToolVersion({ name: "n1", version: 1 })).rejects.toMatchObject({
    code: Code.ResourceExhausted,
  });
});

test("a call that the sandbox has no room for is refused as one to repeat, and did not run", async () => {
  await using busy = await startToolRunnerRig({ sandboxLimits: { activeRuns: 1 } });
  const url = JSON.stringify(`${busy.receiver.url}/held`);
  await busy.saveTool("slow", {
    external_api: true,
    external_api_write: true,
    handler: `export default async (_, ctx) => { await ctx.fetch(${url}); return {}; };`,
  });
  const release = Promise.withResolvers<void>();
  busy.receiver.behave(() => ({ after: release.promise }));
  const first = busy.call({ tool: "slow" });
  await busy.receiver.waitFor(1);
  for (let call = 0; call < 2; call += 1)
    await expect(busy.call({ tool: "slow" })).rejects.toMatchObject({ code: Code.ResourceExhausted });
  release.resolve();
  expect((await first).outcome.case).toBe("resultJson");
  expect(busy.receiver.requests).toHaveLength(1);
});
