import { QueryMode } from "@toolgate/gen/toolgate/tool_runner/v1/data_source_pb";
import { testDatabase } from "@toolgate/testbed/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startToolRunnerRig, type ToolRunnerRig } from "./tool-runner-rig.ts";

const answering = (answer: string) => ({
  external_api: true,
  handler: `export default () => ({ answer: "${answer}" });`,
});
const catching = (expression: string) => ({
  external_api: true,
  handler: `export default async (_, ctx) => {
    try { return { answer: ${expression} }; } catch (error) { return { answer: error.code }; }
  };`,
});

let runner: ToolRunnerRig;
beforeAll(async () => {
  runner = await startToolRunnerRig({ replicas: 2 });
  await runner.dataSource.setDataSource({ url: runner.dataUrl });
  await runner.saveTool("secret", catching(`(await ctx.fetch("${runner.receiver.url}/x?{{secret:TOKEN}}")).body`));
  await runner.saveTool("variable", catching('await ctx.variable("REGION")'));
  await runner.saveTool("query", catching('(await ctx.executePreparedQuery("q")).rows[0].answer'));
  runner.receiver.behave(({ path }) => ({ body: path.includes("-one") ? "one" : "two" }));
});
afterAll(() => runner[Symbol.asyncDispose]());

/** What the tool returns on every replica, or how its call ended. */
async function answersOf(tool: string): Promise<unknown[]> {
  const answer = async (replica: number) => {
    const { outcome } = await runner.call({ tool, replica });
    return outcome.case === "resultJson" ? JSON.parse(Buffer.from(outcome.value).toString()).answer : outcome.case;
  };
  return [await answer(0), await answer(1)];
}

const saveQuery = (answer: string) => () =>
  runner.dataSource.savePreparedQuery({
    query: { name: "q", sql: `select '${answer}' as answer`, mode: QueryMode.READ },
  });
const saveSecret = (value: string) => () =>
  runner.dataSource.saveSecret({ name: "TOKEN", value, hosts: [new URL(runner.receiver.url).host] });
const saveVariable = (value: string) => () => runner.dataSource.saveVariable({ variable: { name: "REGION", value } });

/** By tool: each change, in order, with what the tool returns after it. */
const CHANGES: Record<string, [rpc: string, change: () => Promise<unknown>, answer: string][]> = {
  plain: [
    ["SaveTool", () => runner.saveTool("plain", answering("one")), "one"],
    ["SaveTool", () => runner.saveTool("plain", answering("two")), "two"],
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
    await answersOf(tool);
    for (const [rpc, change, expected] of changes) {
      await change();
      expect([rpc, ...(await answersOf(tool))]).toEqual([rpc, expected, expected]);
    }
  },
);

test("[TOOL] another data source is used on every replica once it is confirmed", async () => {
  await using other = await testDatabase();
  const sql = "select current_database()::text as answer";
  await runner.dataSource.savePreparedQuery({ query: { name: "q", sql, mode: QueryMode.READ } });
  const nameOf = (url: string) => new URL(url).pathname.slice(1);
  const [first] = await answersOf("query");
  expect(first).toBe(nameOf(runner.dataUrl));
  await runner.dataSource.setDataSource({ url: other.url });
  expect(await answersOf("query")).toEqual([nameOf(other.url), nameOf(other.url)]);
  await runner.dataSource.setDataSource({ url: runner.dataUrl });
  expect(await answersOf("query")).toEqual([nameOf(runner.dataUrl), nameOf(runner.dataUrl)]);
});
