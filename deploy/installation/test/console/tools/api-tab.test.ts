import { readFile } from "node:fs/promises";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible, expectToFit } from "../accessibility.ts";
import { describeConsole } from "../console-rig.ts";
import { codeOf, ECHO, ORDER, openTab } from "./api-tab-rig.ts";

const LANGUAGES = ["curl", "JavaScript", "Python", "PHP (Guzzle)", "PHP (curl)"];
const RESPONSE = {
  type: "object",
  required: ["success", "total"],
  properties: { success: { type: "boolean" }, total: { type: "integer", minimum: 3 } },
};

describeConsole("the API tab of a released tool", (rig) => {
  let secret: string;
  /** An administrator's. */
  let page: Page;

  beforeAll(async () => {
    const { toolgate } = rig;
    const fixture = { args_fixture: { amount: 7, odd_field: "never-shown", note: "rare" } };
    await toolgate.saveTool("order", { ...ORDER, ...fixture, external_api_response: RESPONSE });
    await toolgate.saveTool("from_schema", ORDER);
    await toolgate.saveTool("writer", { ...ORDER, external_api_write: true });
    await toolgate.saveTool("reader", {
      ...ORDER,
      handler: undefined,
      api: { method: "GET", url: toolgate.receiver.url },
    });
    await toolgate.saveTool("plain", { external_api: true, handler: ECHO });
    ({ secret } = await toolgate.createKey({ name: "Acme", tools: ["order"], limit: 7 }));
    const gone = await toolgate.createKey({ name: "Gone", tools: ["order"], limit: 8 });
    await toolgate.manage("key_auth.v1.KeyService/RevokeKey", { keyId: gone.id });
    await toolgate.createKey({ name: "Old", tools: ["order"], limit: 9, expiry: { date: "2020-01-31" } });
    await toolgate.createKey({ name: "Other", tools: ["plain"] });
    page = await openTab(rig, "order", { permissions: ["clipboard-read", "clipboard-write"] });
  });

  /** What the button beside a block of code copies. */
  const copied = async (label: string) => {
    const block = page.getByRole("group", { name: label, exact: true });
    await block.hover();
    await block.locator("..").getByRole("button").click();
    return page.evaluate<string>("navigator.clipboard.readText()");
  };
  const show = async (tool: string) => {
    await page.goto(`${rig.toolgate.baseUrl}/manage/tools/${tool}?tab=api`);
    await page.getByRole("heading", { name: "Endpoint" }).waitFor();
  };

  test("[BLD-1] [BLD-2] [BLD-3] [BLD-4] it shows the endpoint, and the authorization with a placeholder, never a key", async () => {
    await page.getByRole("link", { name: "Definition", exact: true }).click();
    await page.getByRole("link", { name: "API", exact: true }).click();
    const endpoint = page.getByRole("region", { name: "Endpoint" });
    const text = await endpoint.innerText();
    expect(text).toContain(`POST ${rig.toolgate.baseUrl}/api/v1/tools/order`);
    expect(text).toContain("Authorization: Bearer <API_KEY>");
    expect(text).toContain("Places an order.");
    await page.getByRole("row", { name: /Acme/ }).waitFor();
    const everything = await page.content();
    expect(everything).not.toContain(secret);
    expect(everything).not.toMatch(/svc_live_[0-9A-Za-z]{7}/);
    expect(new URL(page.url()).pathname).toBe("/manage/tools/order");
  });

  test("[BLD-5] [BLD-6] [BLD-7] [BLD-27] the example is the fixture with declared fields only, otherwise made from the schema; its response passes the response schema", async () => {
    await show("order");
    expect(JSON.parse(await codeOf(page, "Example request"))).toEqual({ args: { amount: 7, note: "rare" } });
    expect(await page.content()).not.toMatch(/odd_field|never-shown|_api_key/);
    const response = JSON.parse(await codeOf(page, "Example response"));
    expect(new Ajv2020().validate(RESPONSE, response)).toBe(true);
    await show("from_schema");
    const made = JSON.parse(await codeOf(page, "Example request"));
    expect(made).toEqual({ args: { amount: 5, note: "example", size: "S" } });
    const argument = page.getByRole("row", { name: /amount/ });
    expect(await argument.innerText()).toMatch(/required\s+integer, at least 5/);
  });

  test("[BLD-8] [BLD-9] [BLD-10] [BLD-11] [BLD-12] [BLD-15] the arrow keys lead through five snippets, which are copied as they are shown", async () => {
    await show("order");
    await page.getByRole("tab", { name: "curl", exact: true }).click();
    for (const label of LANGUAGES) {
      expect(await page.getByRole("tab", { selected: true }).innerText()).toBe(label);
      const source = await copied(label);
      expect(source).toMatch(/SERVICE_API_KEY[\s\S]*\bamount\b/);
      expect(source).toContain(`${rig.toolgate.baseUrl}/api/v1/tools/order`);
      expect(source.trim()).toBe((await codeOf(page, label)).trim());
      await page.getByRole("tab", { name: label, exact: true }).press("ArrowRight");
    }
    await page.getByRole("tab", { name: "curl", exact: true, selected: true }).waitFor();
  });

  test("[BLD-13] [BLD-14] the collection is v2.1 with an empty variable apiKey", async () => {
    await show("order");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download collection" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("order.postman_collection.json");
    const collection = JSON.parse(await readFile(await download.path(), "utf8"));
    expect(collection.info.schema).toContain("/v2.1.0/");
    expect(collection.variable).toEqual([{ key: "apiKey", value: "", type: "string" }]);
    expect(collection.item[0].request.url.raw).toBe(`${rig.toolgate.baseUrl}/api/v1/tools/order`);
  });

  test("[BLD-21] [BLD-22] the OpenAPI description is linked, and there is a curl call that fetches it", async () => {
    await show("order");
    const url = `${rig.toolgate.baseUrl}/api/v1/openapi.json`;
    expect(await page.getByRole("link", { name: url }).getAttribute("href")).toBe(url);
    const source = await copied("curl for the OpenAPI description");
    expect(source).toMatch(/^curl .*SERVICE_API_KEY/s);
    expect(source).toContain(url);
  });

  test("[BLD-16] [BLD-17] [BLD-18] [BLD-19] [BLD-20] managers see the keys that allow the tool, also revoked ones; members do not", async () => {
    const asManager = await openTab(rig, "order", { user: await rig.addUser("manager") });
    const keys = asManager.getByRole("region", { name: "Keys that allow this tool" });
    await keys.getByRole("row").nth(3).waitFor();
    const rows = await keys.getByRole("row").allInnerTexts();
    expect(rows.slice(1).map((row) => row.split(/\s*\t\s*/))).toEqual([
      ["Old", expect.stringMatching(/^svc_live_\w{6}…$/), "9/min", "Expired"],
      ["Gone", expect.stringMatching(/^svc_live_\w{6}…$/), "8/min", "Revoked"],
      ["Acme", `${secret.slice(0, 15)}…`, "7/min", "Active"],
    ]);

    const listed: string[] = [];
    const asMember = await rig.open("/tools/order", { user: await rig.addUser("member") });
    asMember.on("request", (request) => listed.push(request.url()));
    await asMember.getByRole("link", { name: "API", exact: true }).click();
    await asMember.getByRole("heading", { name: "Security checklist" }).waitFor();
    expect(await asMember.content()).not.toMatch(/svc_live_|Keys that allow/);
    expect(listed.filter((url) => url.includes("KeyService"))).toEqual([]);
  });

  test("[BLD-23] it says whether the tool reads, may write, or may do something else", async () => {
    const effects = {
      reader: "Reads only.",
      writer: "May write.",
      plain: "Writes no data of the workspace, but may send",
    };
    for (const [tool, effect] of Object.entries(effects)) {
      await show(tool);
      expect(await page.getByRole("region", { name: "Endpoint" }).innerText()).toContain(effect);
    }
  });

  test("[BLD-24] [BLD-25] [BLD-26] the status codes and headers are those that calls get, and there is a checklist", async () => {
    const { toolgate } = rig;
    await show("order");
    const codes = page.getByRole("region", { name: "Status codes" });
    const ok = await toolgate.call("order", secret, { amount: 5 });
    const responses = [
      ok,
      await toolgate.call("order", secret, { amount: 1 }),
      await toolgate.call("order", "none"),
      await toolgate.call("plain", secret),
      await toolgate.request("/api/v1/tools/order"),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 400, 401, 403, 405]);
    for (const { status, body } of responses) {
      const row = codes.getByRole("row").filter({ hasText: String(body.error ?? "What the tool returned") });
      expect(await row.innerText()).toMatch(new RegExp(`^${status}\\b`));
    }
    for (const status of [429, 500]) expect(await codes.innerText()).toContain(String(status));
    const limit = page.getByRole("region", { name: "Rate-limit headers" });
    const names = await limit.getByRole("row").locator("code").allInnerTexts();
    expect(names).toEqual(expect.arrayContaining(["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]));
    for (const name of names) expect(ok.headers.has(name), name).toBe(name !== "Retry-After");
    const checklist = page.getByRole("region", { name: "Security checklist" });
    expect(await checklist.getByRole("listitem").count()).toBeGreaterThan(4);
    expect(await checklist.innerText()).toMatch(/Keep keys on servers.*SERVICE_API_KEY.*Revoke/s);
  });

  test("[BLD-1] it is accessible in both themes, and fits a phone", async () => {
    await show("order");
    await page.getByRole("row", { name: /Acme/ }).waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
  });
});
