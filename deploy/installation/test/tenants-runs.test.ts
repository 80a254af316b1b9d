import { afterAll, beforeAll, expect, test } from "vitest";
import { MARKER, type Tenants, twoTenants } from "./tenants-rig.ts";

const returning = (value: string) => ({
  description: "d",
  external_api: true,
  handler: `export default () => ({ value: "${value}" });`,
});
const TOOLS = "tool_runner.v1.ToolService";

let tenants: Tenants;
beforeAll(async () => {
  tenants = await twoTenants();
});
afterAll(() => tenants[Symbol.asyncDispose]());

async function secondKey(tools: string[]): Promise<string> {
  const made = await tenants.second.manage<{ secret: string }>("key_auth.v1.KeyService/CreateKey", {
    name: "k",
    tools,
  });
  return made.secret;
}

test("[KEY-18] [KEY-19] tools of the same name in two workspaces: each key runs its own workspace's tool and no other", async () => {
  const { toolgate, second } = tenants;
  const saveSecond = (value: string) =>
    second.manage(`${TOOLS}/SaveTool`, { name: "twin", definition: returning(value), confirmExposure: true });
  await saveSecond("second");
  const foreignKey = await secondKey(["twin"]);
  expect((await toolgate.call("twin", foreignKey)).body).toEqual({ value: "second" });
  await toolgate.saveTool("twin", returning("first"));
  const ownKey = await toolgate.createKey({ name: "twin", tools: ["twin"] });
  for (let round = 0; round < 2; round += 1) {
    expect((await toolgate.call("twin", ownKey.secret)).body).toEqual({ value: "first" });
    expect((await toolgate.call("twin", foreignKey)).body).toEqual({ value: "second" });
    // The next round finds both tools under new epochs.
    await saveSecond("second");
  }
  await second.manage(`${TOOLS}/DeleteTool`, { name: "twin" });
  expect((await toolgate.call("twin", foreignKey)).status).toBe(403);
  expect((await toolgate.call("twin", ownKey.secret)).body).toEqual({ value: "first" });
});

test("[KEY-19] a key cannot list a tool of another workspace, and its description does not show it", async () => {
  const { toolgate } = tenants;
  await expect(secondKey([MARKER])).rejects.toThrow(/400.*not released/s);
  const secret = await secondKey([]);
  const described = await toolgate.request("/api/v1/openapi.json", { headers: { authorization: `Bearer ${secret}` } });
  expect(described.status).toBe(200);
  expect(described.text).not.toContain(MARKER);
  expect((await toolgate.call(MARKER, secret)).status).toBe(403);
});

test("[KEY-19] [TOOL] a run finds no tool, query, secret, variable or sheet of another workspace", async () => {
  const { toolgate, second } = tenants;
  const { host } = new URL(toolgate.receiver.url);
  await tenants.first.manage("tool_runner.v1.DataSourceService/SaveSecret", {
    name: "FOREIGN",
    value: "a-foreign-secret",
    hosts: [host],
  });
  const attempts = [
    `ctx.callTool("${MARKER}", {})`,
    `ctx.executePreparedQuery("${MARKER}")`,
    `ctx.fetch("${toolgate.receiver.url}/?{{secret:FOREIGN}}")`,
    `ctx.variable("${MARKER}")`,
    `ctx.readSheet("${MARKER}", "A1")`,
  ];
  const handler = `export default async (_, ctx) => {
    const codes = [];
    for (const attempt of [${attempts.map((one) => `() => ${one}`).join(", ")}]) {
      try { codes.push(JSON.stringify(await attempt())); } catch (error) { codes.push(error.code); }
    }
    return { codes };
  };`;
  const definition = { description: "d", external_api: true, external_api_write: true, handler };
  await second.manage(`${TOOLS}/SaveTool`, { name: "prying", definition, confirmExposure: true });
  const before = toolgate.receiver.requests.length;
  const pry = async () => (await toolgate.call("prying", await secondKey(["prying"]))).body.codes as string[];
  expect(await pry()).toEqual(["NO_SUCH_TOOL", "NO_SUCH_QUERY", "NO_SUCH_SECRET", "NO_SUCH_VARIABLE", "NO_SUCH_SHEET"]);
  const query = { name: MARKER, sql: "select 1" };
  await second.manage("tool_runner.v1.DataSourceService/SavePreparedQuery", { query });
  expect((await pry())[1]).toBe("NO_DATA_SOURCE");
  expect(toolgate.receiver.requests.length).toBe(before);
});
