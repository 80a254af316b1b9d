import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Validator } from "@seriousme/openapi-schema-validator";
import { earlyInMinute } from "@toolgate/testbed/early-in-minute";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

const HANDLER = "export default async (args) => ({ success: true, args });";
const GREET = {
  external_api: true,
  description: "For the model: greet politely.",
  external_api_description: "Greets somebody.",
  external_api_response: { type: "object", properties: { greeting: { type: "string" } } },
  parameters: {
    type: "object",
    properties: { name: { type: "string", maxLength: 20 }, _api_key: { type: "object" } },
    required: ["name"],
  },
  args_fixture: { name: "Ada", other: 1 },
  handler: HANDLER,
};

let toolgate: RunningToolgate;
beforeAll(async () => {
  toolgate = await runToolgate("single");
  await toolgate.saveTool("greet", GREET);
});
afterAll(() => toolgate[Symbol.asyncDispose]());

const describeFor = (secret: string, headers: Record<string, string> = {}, path = "openapi.json") =>
  toolgate.request(`/api/v1/${path}`, { headers: { authorization: `Bearer ${secret}`, ...headers } });

test("[OAPI-1] [OAPI-2] [VER-1] [VER-2] a key gets its description as JSON, private, with the limit's headers", async () => {
  const { secret } = await toolgate.createKey({ name: "k", tools: ["greet"], limit: 9 });
  const response = await describeFor(secret);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(response.headers.get("cache-control")).toBe("private, no-store");
  expect(response.headers.get("x-ratelimit-remaining")).toBe("9");
  expect(response.text).not.toContain("_api_key");
  expect(response.text).not.toContain(secret);
  expect(response.body).toMatchObject({ openapi: "3.1.0", servers: [{ url: toolgate.baseUrl }] });
});

test("[OAPI-3] it lists the tools that calls by this key reach, no more and no fewer, at each moment", async () => {
  await toolgate.saveTool("hidden", { ...GREET, external_api: 1 });
  await toolgate.saveTool("later", { ...GREET, async: true });
  await toolgate.saveTool("unlisted", GREET);
  await toolgate.saveTool("second", GREET);
  const { id, secret } = await toolgate.createKey({ name: "k", tools: ["greet", "second"], limit: 1_000 });
  await toolgate.pool.query("update key_auth.keys set tools = $2 where id = $1", [
    id,
    "{greet,second,hidden,later,nowhere}",
  ]);
  await toolgate.manage("key_auth.v1.KeyService/UpdateKey", { keyId: id, name: "k" });
  for (const paths of [["greet", "second"], ["greet"], ["greet", "second"]]) {
    await toolgate.saveTool("second", { ...GREET, external_api: paths.includes("second") });
    expect(Object.keys((await describeFor(secret)).body.paths as object)).toEqual(
      paths.map((name) => `/api/v1/tools/${name}`),
    );
    for (const name of ["greet", "second", "hidden", "later", "unlisted", "nowhere"]) {
      const { status } = await toolgate.call(name, secret, { name: "x" });
      expect(status, name).toBe(paths.includes(name) ? 200 : 403);
    }
  }
  await toolgate.manage("key_auth.v1.KeyService/UpdateKey", { keyId: id, tools: { names: [] } });
  const empty = await describeFor(secret);
  expect(empty.body.paths).toEqual({});
  expect(await new Validator().validate(structuredClone(empty.body))).toMatchObject({ valid: true });
});

test.each(["openapi.json", "openapi.d.ts"])(
  "[OAPI-7] [ERR-3] [ERR-4] [ERR-7] without a key and with a revoked one, %s gets the same 401 as a call",
  async (path) => {
    const { id, secret } = await toolgate.createKey({ name: "k", tools: ["greet"] });
    await toolgate.manage("key_auth.v1.KeyService/RevokeKey", { keyId: id });
    for (const response of [await toolgate.request(`/api/v1/${path}`), await describeFor(secret, {}, path)]) {
      expect(response).toMatchObject({
        status: 401,
        text: '{"success":false,"error":"Ungueltiger oder fehlender API-Key"}',
      });
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect(response.headers.get("ratelimit")).toBeNull();
    }
  },
);

test("[OAPI] [LIMIT-3] fetching is neither counted nor logged, and still works once the limit is reached", async () => {
  const { id, secret } = await toolgate.createKey({ name: "k", tools: ["greet"], limit: 1 });
  await earlyInMinute();
  for (let fetched = 0; fetched < 3; fetched += 1) {
    expect((await describeFor(secret)).headers.get("x-ratelimit-remaining")).toBe("1");
  }
  expect((await toolgate.call("greet", secret, { name: "x" })).status).toBe(200);
  expect((await toolgate.call("greet", secret, { name: "x" })).status).toBe(429);
  const response = await describeFor(secret);
  expect(response.status).toBe(200);
  expect(response.headers.get("retry-after")).toBeNull();
  expect(response.headers.get("x-ratelimit-remaining")).toBe("0");
  expect((await describeFor(secret, { "if-none-match": response.headers.get("etag") ?? "" })).status).toBe(304);
  expect((await toolgate.call("greet", secret, { name: "x" })).status).toBe(429);
  const calls = await eventually(async () => {
    const { calls: found = [] } = await toolgate.manage<{ calls?: { status: number }[] }>(
      "key_auth.v1.KeyService/ListKeyCalls",
      { keyId: id },
    );
    return found.length >= 3 && found;
  });
  expect(calls.map(({ status }) => status)).toEqual([429, 429, 200]);
});

test("[OAPI] [ERR-12] in a locked workspace it is refused like a call", async () => {
  const { secret } = await toolgate.createKey({ name: "k", tools: ["greet"] });
  const lock = (locked: boolean) =>
    toolgate.pool.query("update key_auth.workspaces set locked = $2 where code = $1", [
      toolgate.account.workspace,
      locked,
    ]);
  await lock(true);
  await toolgate.saveTool("hidden", GREET);
  const refused = await describeFor(secret);
  const refusedByMcp = await toolgate.request("/mcp", {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  });
  await lock(false);
  await toolgate.saveTool("hidden", GREET);
  expect(refused).toMatchObject({ status: 403, text: '{"success":false,"error":"Tool nicht verfuegbar"}' });
  expect(refusedByMcp.status).toBe(403);
  expect((await describeFor(secret)).status).toBe(200);
});

test("[OAPI] an ETag saves the transfer until something changes", async () => {
  const { secret } = await toolgate.createKey({ name: "k", tools: ["greet"] });
  for (const path of ["openapi.json", "openapi.d.ts"]) {
    const tag = (await describeFor(secret, {}, path)).headers.get("etag") ?? "";
    const same = await describeFor(secret, { "if-none-match": `"other", W/${tag}` }, path);
    expect(same).toMatchObject({ status: 304, text: "" });
    expect(same.headers.get("etag")).toBe(tag);
    expect(same.headers.get("cache-control")).toBe("private, no-store");
    expect(same.headers.get("x-ratelimit-limit")).toBe("60");
    await toolgate.saveTool("greet", { ...GREET, external_api_description: `Changed for ${path}` });
    const changed = await describeFor(secret, { "if-none-match": tag }, path);
    expect(changed.status).toBe(200);
    expect(changed.text).toContain(`Changed for ${path}`);
    await toolgate.saveTool("greet", GREET);
  }
});

test("[OAPI-3] [OAPI-4] the TypeScript declarations name the same tools", async () => {
  const { secret } = await toolgate.createKey({ name: "k", tools: ["greet"] });
  const response = await describeFor(secret, {}, "openapi.d.ts");
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/typescript; charset=utf-8");
  expect(response.text).toContain("  greet: {\n    args: {\n      name: string;\n    };");
  expect(response.text).not.toContain("unlisted");
});

test("[OAPI] a document introduces the workspace as it says itself, and redocly's recommended rules find nothing in it", async () => {
  // Each level would make the example twenty times as long.
  let lists: object = { type: "string" };
  for (let level = 0; level < 10; level += 1) lists = { type: "array", minItems: 20, items: lists };
  const parameters = { type: "object", properties: { lists }, required: ["lists"] };
  await toolgate.saveTool("nested", { ...GREET, args_fixture: undefined, parameters });
  const { secret } = await toolgate.createKey({ name: "k", tools: ["greet", "nested"] });
  const describeApi = (about: object) => toolgate.manage("tool_runner.v1.ToolService/SetApiDescription", { about });
  const info = async () => ((await describeFor(secret)).body as { info: object }).info;
  const about = {
    title: "Orders of Acme",
    description: "For *partners*.",
    contactName: "Acme",
    contactUrl: "https://acme.example/help",
    contactEmail: "api@acme.example",
    licenseName: "Acme terms",
    licenseUrl: "https://acme.example/terms",
  };
  const config = await createConfig({ extends: ["recommended"] });
  async function expectNoProblem(keySecret: string): Promise<void> {
    const source = (await describeFor(keySecret)).text.replace(toolgate.baseUrl, "https://api.acme.test");
    const problems = await lintFromString({ source, config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  }
  for (const [set, expected] of [
    [{}, { title: "Tool API", license: { name: "Proprietary" } }],
    [{ licenseName: "Acme terms" }, { license: { name: "Acme terms", identifier: "LicenseRef-Acme-terms" } }],
    [
      about,
      {
        title: about.title,
        description: expect.stringMatching(/^For \*partners\*\.\n\nTools that/),
        contact: { name: about.contactName, url: about.contactUrl, email: about.contactEmail },
        license: { name: about.licenseName, url: about.licenseUrl },
      },
    ],
  ] as const) {
    await describeApi(set);
    expect(await info()).toMatchObject(expected);
    await expectNoProblem(secret);
  }
  await expectNoProblem((await toolgate.createKey({ name: "without tools", tools: [] })).secret);
  expect(await toolgate.manage("tool_runner.v1.ToolService/GetApiDescription", {})).toEqual({ about });
  for (const wrong of [{ contactUrl: "javascript:1" }, { contactEmail: "x" }, { licenseUrl: "https://a.example" }]) {
    await expect(describeApi(wrong)).rejects.toThrow(/400.*about\./);
  }
});
