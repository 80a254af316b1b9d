import { QueryMode } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "../tool-runner-rig.ts";

const returning = (value: string) => ({
  external_api: true,
  handler: `export default () => ({ value: "${value}" });`,
});
const catching = (expression: string) => ({
  external_api: true,
  handler: `export default async (_, ctx) => {
    try { return { value: ${expression} }; } catch (error) { return { value: error.code }; }
  };`,
});

let runner: ToolRunnerRig;
beforeAll(async () => {
  runner = await startToolRunnerRig({ replicas: 2 });
  await runner.dataSource.setDataSource({ url: runner.dataUrl });
  await runner.saveTool("secret", catching(`(await ctx.fetch("${runner.receiver.url}/x?{{secret:TOKEN}}")).body`));
  await runner.saveTool("variable", catching('await ctx.variable("REGION")'));
  await runner.saveTool("query", catching('(await ctx.executePreparedQuery("q")).rows[0].value'));
  runner.receiver.behave(({ path }) => ({ body: path.includes("-one") ? "one" : "two" }));
});
afterAll(() => runner[Symbol.asyncDispose]());

/** What the tool returns on every replica, or how its call ended. */
async function valuesOf(tool: string): Promise<unknown[]> {
  const valueFrom = async (replica: number) => {
    const { outcome } = await runner.call({ tool, replica });
    return outcome.case === "resultJson" ? JSON.parse(Buffer.from(outcome.value).toString()).value : outcome.case;
  };
  return [await valueFrom(0), await valueFrom(1)];
}

const saveQuery = (value: string) => () =>
  runner.dataSource.savePreparedQuery({
    query: { name: "q", sql: `select '${value}' as value`, mode: QueryMode.READ },
  });
const saveSecret = (value: string) => () =>
  runner.dataSource.saveSecret({ name: "TOKEN", value, hosts: [new URL(runner.receiver.url).host] });
const saveVariable = (value: string) => () => runner.dataSource.saveVariable({ variable: { name: "REGION", value } });

/** The changes for each tool, in order, with what the tool returns after each. */
const CHANGES: Record<string, [rpc: string, change: () => Promise<unknown>, value: string][]> = {
  plain: [
    ["SaveTool", () => runner.saveTool("plain", returning("one")), "one"],
    ["SaveTool", () => runner.saveTool("plain", returning("two")), "two"],
    [
      "RestoreToolVersion",
      () => runner.tools.restoreToolVersion({ name: "plain", version: 1, confirmExposure: true }),
      "one",
    ],
    ["DeleteTool", () => runner.tools.deleteTool({ name: "plain" }), "unavailable"],
  ],
  query: [
    ["SavePreparedQuery", saveQuery("one"), "one"],
    ["SavePreparedQuery", saveQuery("two"), "two"],
    ["DeletePreparedQuery", () => runner.dataSource.deletePreparedQuery({ name: "q" }), "NO_SUCH_QUERY"],
    ["SavePreparedQuery", saveQuery("three"), "three"],
  ],
  secret: [
    ["SaveSecret", saveSecret("token-one"), "one"],
    ["SaveSecret", saveSecret("token-two"), "two"],
    ["DeleteSecret", () => runner.dataSource.deleteSecret({ name: "TOKEN" }), "NO_SUCH_SECRET"],
  ],
  variable: [
    ["SaveVariable", saveVariable("one"), "one"],
    ["SaveVariable", saveVariable("two"), "two"],
    ["DeleteVariable", () => runner.dataSource.deleteVariable({ name: "REGION" }), "NO_SUCH_VARIABLE"],
  ],
};

test.each(Object.entries(CHANGES))(
  "[TOOL] a change that the tool %s depends on applies on every replica once it is confirmed",
  async (tool, changes) => {
    await valuesOf(tool);
    for (const [rpc, change, expected] of changes) {
      await change();
      expect([rpc, ...(await valuesOf(tool))]).toEqual([rpc, expected, expected]);
    }
  },
);

test("[TOOL] another data source is used on every replica once it is confirmed", async () => {
  await using other = await testDatabase();
  const sql = "select current_database()::text as value";
  await runner.dataSource.savePreparedQuery({ query: { name: "q", sql, mode: QueryMode.READ } });
  const nameOf = (url: string) => new URL(url).pathname.slice(1);
  const [first] = await valuesOf("query");
  expect(first).toBe(nameOf(runner.dataUrl));
  await runner.dataSource.setDataSource({ url: other.url });
  expect(await valuesOf("query")).toEqual([nameOf(other.url), nameOf(other.url)]);
  await runner.dataSource.setDataSource({ url: runner.dataUrl });
  expect(await valuesOf("query")).toEqual([nameOf(runner.dataUrl), nameOf(runner.dataUrl)]);
});
