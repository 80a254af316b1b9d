import { createConfig, lintFromString } from "@redocly/openapi-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

const TOOL = {
  external_api: true,
  description: "Takes what it is given",
  parameters: { type: "object", properties: { name: { type: "string" } } },
  handler: "export default async (args) => ({ success: true, args });",
};

let toolgate: RunningToolgate;
beforeAll(async () => {
  toolgate = await runToolgate("single");
  await toolgate.saveTool("greet", TOOL);
});
afterAll(() => toolgate[Symbol.asyncDispose]());

const describeFor = (secret: string) =>
  toolgate.request("/api/v1/openapi.json", { headers: { authorization: `Bearer ${secret}` } });

test("[OAPI] a document introduces the workspace as it says itself, and redocly's recommended rules find nothing in it", async () => {
  // Each level would make the example twenty times as long.
  let lists: object = { type: "string" };
  for (let level = 0; level < 10; level += 1) lists = { type: "array", minItems: 20, items: lists };
  const parameters = { type: "object", properties: { lists }, required: ["lists"] };
  await toolgate.saveTool("nested", { ...TOOL, parameters });
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
