import { testDatabase } from "@toolgate/testbed/servers/test-database";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectAccessible, expectToFit } from "./accessibility.ts";
import { describeConsole } from "./console-rig.ts";

describeConsole("what tools use, in the console", (rig) => {
  let customer: Awaited<ReturnType<typeof testDatabase>>;

  beforeAll(async () => {
    customer = await testDatabase();
    await rig.toolgate.saveTool("look_up", {
      external_api: true,
      external_api_write: true,
      handler: `export default async (_, ctx) => {
        await ctx.writeToSheet("orders", "A1:B2", [["city", "amount"], ["<b>Bern</b>", 64]]);
        const { rows } = await ctx.executePreparedQuery("twice", { n: 21 });
        return { city: await ctx.variable("CITY"), twice: rows[0].twice };
      };`,
    });
  });
  afterAll(() => customer?.[Symbol.asyncDispose]());

  const dialogOf = (page: Page, name: string | RegExp) => page.getByRole("dialog", { name });
  const save = (page: Page) => page.getByRole("button", { name: "Save", exact: true }).click();

  test("[MGMT] a variable is added, changed and deleted", async () => {
    const page = await rig.open("/variables");
    await page.getByText("No variables yet").waitFor();
    await page.keyboard.press("c");
    await page.getByLabel("Name").fill("1st");
    await page.getByRole("textbox", { name: "Value" }).fill("Bern");
    await save(page);
    await dialogOf(page, "Add variable").getByRole("alert").waitFor();
    await expectAccessible(page);
    await page.getByLabel("Name").fill("CITY");
    await save(page);
    const panel = page.getByRole("complementary", { name: "CITY" });
    await panel.getByText("Bern").waitFor();
    await panel.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Value" }).fill("Chur");
    await save(page);
    await panel.getByText("Chur").waitFor();
    await page.reload();
    await panel.getByText("Chur").waitFor();
    await panel.getByRole("button", { name: "Delete" }).click();
    await dialogOf(page, "Delete CITY?").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No variables yet").waitFor();
  });

  test("[MGMT] [SEC] a secret is written and never shown; managers see names and hosts", async () => {
    const page = await rig.open("/secrets");
    await page.getByRole("button", { name: "Add secret" }).first().click();
    await page.getByLabel("Name").fill("SHOP_TOKEN");
    await page.getByLabel("Value").fill("canary-of-a-secret");
    await page.getByLabel("Hosts").fill("not a host!");
    await save(page);
    await dialogOf(page, "Add secret").getByRole("alert").waitFor();
    await page.getByLabel("Hosts").fill("api.example.com\napi.example.com:8443");
    await save(page);
    const panel = page.getByRole("complementary", { name: "SHOP_TOKEN" });
    await panel.getByText("{{secret:SHOP_TOKEN}}").waitFor();
    await panel.getByText("api.example.com, api.example.com:8443").waitFor();
    await dialogOf(page, "Add secret").waitFor({ state: "detached" });
    await expectAccessible(page);
    expect(await page.content()).not.toContain("canary-of-a-secret");
    const managers = await rig.open("/secrets?open=SHOP_TOKEN", { user: await rig.addUser("manager") });
    await managers.getByRole("complementary", { name: "SHOP_TOKEN" }).waitFor();
    await managers.getByText("Only admins of the workspace can add or change secrets.").waitFor();
    expect(await managers.getByRole("button", { name: /Add|Replace|Delete/ }).count()).toBe(0);
  });

  test("[MGMT] [DATA] a data source is tested before it is saved, and a query is tried before it is saved", async () => {
    const page = await rig.open("/queries");
    await page.getByRole("button", { name: "Set data source" }).click();
    const source = dialogOf(page, "Set data source");
    await source.getByLabel("URL").fill("postgres://ada:secret@10.0.0.1/shop");
    await source.getByRole("button", { name: "Test connection" }).click();
    await source.getByText("address not allowed or not resolvable").waitFor();
    await source.getByLabel("URL").fill(customer.url);
    await source.getByRole("button", { name: "Test connection" }).click();
    await source.getByText(/PostgreSQL .* answered after/).waitFor();
    await expectAccessible(page);
    await save(page);
    await source.waitFor({ state: "detached" });
    await page.getByText(`database ${new URL(customer.url).pathname.slice(1)}`).waitFor();
    await page.getByRole("button", { name: "Add query" }).first().click();
    await page.getByLabel("Name").fill("twice");
    await page.getByLabel("SQL").fill("selekt 1");
    await page.getByRole("button", { name: "Dry run" }).click();
    await page.getByText(/syntax error at or near "selekt"/).waitFor();
    await page.getByLabel("SQL").fill("select (:n)::int * 2 as twice, '<img src=x onerror=alert(1)>' as html");
    const parameters = page.getByLabel("Parameters for a dry run");
    await parameters.fill('{"n":12345678901234567890}');
    await page.getByRole("button", { name: "Dry run" }).click();
    await page.getByText("A number has more digits").waitFor();
    await parameters.fill('{"n":21}');
    await page.getByRole("button", { name: "Dry run" }).click();
    const cells = page.getByRole("region", { name: "Dry run" });
    await cells.getByText("42").waitFor();
    await cells.getByText("<img src=x onerror=alert(1)>").waitFor();
    await expectAccessible(page);
    await save(page);
    await page.getByRole("complementary", { name: "twice" }).getByText("Reads only").waitFor();
  });

  test("[MGMT] [DATA] a sheet that a tool has filled is shown as a table", async () => {
    const { toolgate } = rig;
    const manage = (method: string, request: Record<string, unknown>) =>
      toolgate.manage(`tool_runner.v1.DataSourceService/${method}`, request);
    await manage("SetDataSource", { url: customer.url });
    await manage("SavePreparedQuery", { query: { name: "twice", sql: "select (:n)::int * 2 as twice" } });
    await manage("SaveVariable", { variable: { name: "CITY", value: "Bern" } });
    const { secret } = await toolgate.createKey({ name: "Acme", tools: ["look_up"], limit: 5 });
    expect((await toolgate.call("look_up", secret)).body).toEqual({ city: "Bern", twice: 42 });
    const page = await rig.open("/sheets");
    await page.getByRole("row", { name: "orders" }).click();
    const panel = page.getByRole("complementary", { name: "orders" });
    await panel.getByRole("cell", { name: "<b>Bern</b>" }).waitFor();
    expect(await panel.getByRole("columnheader").allInnerTexts()).toEqual(["A", "B"]);
    await panel.getByLabel("Range").fill("B2");
    await panel.getByRole("cell", { name: "<b>Bern</b>" }).waitFor({ state: "detached" });
    await panel.getByRole("columnheader", { name: "B" }).waitFor();
    await panel.getByRole("rowheader", { name: "2" }).waitFor();
    await panel.getByRole("cell", { name: "64" }).waitFor();
    await panel.getByLabel("Range").fill("nonsense");
    await panel.getByRole("alert").waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
  });
});
