import { MANAGED_SERVICES } from "@toolgate/gateway/http/management/management-routes";
import { Access } from "@toolgate/gen/toolgate/options/v1/access_pb";
import { accessOf, callableFromOutside } from "@toolgate/service-host/access";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ATTEMPTS } from "./attempts.ts";
import { MARKER, openTenants, type Tenants, type Things } from "./rig.ts";

/** RPCs that create something in the caller's own workspace. Tried last, because other RPCs would find it. */
const makes = (rpc: string) => /\/(Save|Set|Create)/.test(rpc);

const returning = (value: string) => ({
  description: "d",
  external_api: true,
  handler: `export default () => ({ value: "${value}" });`,
});
const TOOLS = "tool_runner.v1.ToolService";

let tenants: Tenants;
beforeAll(async () => {
  tenants = await openTenants();
});
afterAll(() => tenants[Symbol.asyncDispose]());

test("[MGMT] [WMGMT] every RPC that people may call in a workspace is covered here", () => {
  const offered = MANAGED_SERVICES.flatMap(([, service]) =>
    callableFromOutside(service)
      .filter((method) => accessOf(method) !== Access.PUBLIC)
      .map((method) => `${service.typeName.replace("toolgate.", "")}/${method.name}`),
  );
  expect(Object.keys(ATTEMPTS).toSorted()).toEqual(offered.toSorted());
});

test("[MGMT-4] [WMGMT-4] a user who is not a member of a workspace gets 404 from every RPC, and changes nothing", async () => {
  const { first, second } = tenants;
  const before = await tenants.stored();
  for (const [rpc, { request }] of Object.entries(ATTEMPTS)) {
    const response = await second.call(rpc, { ...request(first), workspace: first.workspace });
    expect([rpc, response.status]).toEqual([rpc, 404]);
    expect(shown(response.text, first)).toEqual([]);
  }
  expect(await tenants.stored()).toBe(before);
});

test("[MGMT] [WMGMT] every list shows a workspace its own things and no other's", async () => {
  const { first, second } = tenants;
  const lists = Object.keys(ATTEMPTS).filter((rpc) => /\/(List|Count)/.test(rpc));
  for (const rpc of lists) {
    const filter = {
      ListKeyCalls: { keyId: first.keyId },
      ListToolVersions: { name: MARKER },
      ListAssistantVersions: { name: MARKER },
    };
    const request = filter[rpc.split("/")[1] as keyof typeof filter] ?? {};
    const own = await first.call(rpc, request);
    expect([rpc, own.status, own.text === "{}"]).toEqual([rpc, 200, false]);
    const foreign = await second.call(rpc, request);
    expect([rpc, shown(foreign.text, first)]).toEqual([rpc, []]);
    // A new workspace already has logins in its audit log, its admin, the built-in assistant, and lists the event types.
    if (foreign.status === 200 && !/ListAuditEntries|ListMembers|ListEventTypes|ListAssistants/.test(rpc))
      expect([rpc, foreign.text]).toEqual([rpc, "{}"]);
  }
});

test("[MGMT] [WMGMT] [KEY-19] with the ids and names of another workspace every RPC shows nothing of it, and changes nothing", async () => {
  const { first, second } = tenants;
  const before = await tenants.stored();
  const attempts = Object.entries(ATTEMPTS);
  for (const [rpc, { request, foreign }] of attempts.filter(([rpc]) => !makes(rpc))) {
    const response = await second.call(rpc, request(first));
    expect([rpc, response.status, shown(response.text, first)]).toEqual([rpc, foreign, []]);
  }
  for (const [rpc, { request, foreign }] of attempts.filter(([rpc]) => makes(rpc))) {
    const response = await second.call(rpc, request(first));
    expect([rpc, response.status]).toEqual([rpc, foreign]);
  }
  expect(await tenants.stored()).toBe(before);
});

async function thirdKey(tools: string[]): Promise<string> {
  const made = await tenants.third.manage<{ secret: string }>("key_auth.v1.KeyService/CreateKey", {
    name: "k",
    tools,
  });
  return made.secret;
}

test("[KEY-18] [KEY-19] tools of the same name in two workspaces: each key runs its own workspace's tool and no other", async () => {
  const { toolgate, third } = tenants;
  const saveThird = (value: string) =>
    third.manage(`${TOOLS}/SaveTool`, { name: "twin", definition: returning(value), confirmExposure: true });
  await saveThird("third");
  const foreignKey = await thirdKey(["twin"]);
  expect((await toolgate.call("twin", foreignKey)).body).toEqual({ value: "third" });
  await toolgate.saveTool("twin", returning("first"));
  const ownKey = await toolgate.createKey({ name: "twin", tools: ["twin"] });
  for (let round = 0; round < 2; round += 1) {
    expect((await toolgate.call("twin", ownKey.secret)).body).toEqual({ value: "first" });
    expect((await toolgate.call("twin", foreignKey)).body).toEqual({ value: "third" });
    // The next round finds both tools under new epochs.
    await saveThird("third");
  }
  await third.manage(`${TOOLS}/DeleteTool`, { name: "twin" });
  expect((await toolgate.call("twin", foreignKey)).status).toBe(403);
  expect((await toolgate.call("twin", ownKey.secret)).body).toEqual({ value: "first" });
});

test("[KEY-19] a key cannot list a tool of another workspace, and its description does not show it", async () => {
  const { toolgate } = tenants;
  await expect(thirdKey([MARKER])).rejects.toThrow(/400.*not released/s);
  const secret = await thirdKey([]);
  const described = await toolgate.request("/api/v1/openapi.json", { headers: { authorization: `Bearer ${secret}` } });
  expect(described.status).toBe(200);
  expect(described.text).not.toContain(MARKER);
  expect((await toolgate.call(MARKER, secret)).status).toBe(403);
});

test("[KEY-19] [TOOL] a run finds no tool, query, secret, variable or sheet of another workspace", async () => {
  const { toolgate, third } = tenants;
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
  await third.manage(`${TOOLS}/SaveTool`, { name: "prying", definition, confirmExposure: true });
  const before = toolgate.receiver.requests.length;
  const pry = async () => (await toolgate.call("prying", await thirdKey(["prying"]))).body.codes as string[];
  expect(await pry()).toEqual(["NO_SUCH_TOOL", "NO_SUCH_QUERY", "NO_SUCH_SECRET", "NO_SUCH_VARIABLE", "NO_SUCH_SHEET"]);
  const query = { name: MARKER, sql: "select 1" };
  await third.manage("tool_runner.v1.DataSourceService/SavePreparedQuery", { query });
  expect((await pry())[1]).toBe("NO_DATA_SOURCE");
  expect(toolgate.receiver.requests.length).toBe(before);
});

test("[MGMT] [WMGMT] the same requests work in the workspace that they belong to", async () => {
  const { first } = tenants;
  for (const [rpc, { request }] of Object.entries(ATTEMPTS)) {
    const response = await first.call(rpc, request(first));
    expect([rpc, response.status]).toEqual([rpc, 200]);
  }
});

/** Which data of the first tenant a response shows. */
function shown(text: string, { keyId, eventId, deliveryId, executionId, hookId, hookDeliveryId }: Things): string[] {
  const ids = [keyId, eventId, deliveryId, executionId, hookId, hookDeliveryId];
  const email = /admin-\w+@example\.test/.exec(text) ?? [];
  return [...email, ...[MARKER, ...ids].filter((one) => text.includes(one))];
}
