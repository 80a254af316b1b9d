import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { expectAccessible, expectToFit } from "../accessibility.ts";
import { type ConsoleRig, chromium, startConsole } from "../console-rig.ts";
import { description, handler, openEditor, save, saveButton, saved } from "./tools-rig.ts";

if (!chromium) test.skip("not run: Chromium is not on this machine", () => {});

describe.skipIf(!chromium)("tools in the console", () => {
  let rig: ConsoleRig;
  beforeAll(async () => {
    rig = await startConsole();
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());
  afterEach(() => expect(rig.problems.splice(0)).toEqual([]));

  test("[MGMT] when two admins edit a tool, the second is told who saved what, and nothing is lost", async () => {
    await rig.toolgate.saveTool("both", { handler });
    const user = await rig.addUser("admin");
    const [first, second] = [await openEditor(rig, "both"), await openEditor(rig, "both", { user })];
    await description(first).fill("the first one's text");
    await description(second).fill("the second one's text");
    await save(first, 2);
    await saveButton(second).click();
    const told = second.getByRole("alert").getByText("saved version 2");
    expect(await told.innerText()).toContain(rig.toolgate.account.email);
    expect(await description(second).inputValue()).toBe("the second one's text");
    expect((await saved(rig, "both")).definition.description).toBe("the first one's text");
    await second.getByRole("button", { name: "Compare" }).click();
    const differences = second.getByRole("region", { name: "Differences" });
    await expect.poll(() => differences.innerText()).toMatch(/−.*first one's text.*\+.*second one's text/s);
    await expectAccessible(second);
    await second.keyboard.press("Escape");
    await second.getByRole("button", { name: "Save over it" }).click();
    await second.getByText("Version 3 is saved").waitFor();
    const { tool } = await rig.toolgate.manage<{ tool: { definition: object } }>(
      "tool_runner.v1.ToolService/GetToolVersion",
      { name: "both", version: 2 },
    );
    expect(tool.definition).toMatchObject({ description: "the first one's text" });
    for (const page of [first, second]) await page.context().close();
  });

  test("[TOOL] a deleted tool can be restored from its versions", async () => {
    await rig.toolgate.saveTool("gone", { handler });
    await rig.toolgate.manage("tool_runner.v1.ToolService/DeleteTool", { name: "gone" });
    const page = await rig.open("/tools/gone");
    await page.getByText("There is no tool gone").waitFor();
    await page.getByRole("button", { name: "Version 1" }).click();
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByText("Version 1 is restored as version 2").waitFor();
    expect((await saved(rig, "gone")).version).toBe(2);
    await page.context().close();
  });

  test("[BLD-30] [BLD-31] the list shows kinds and flags, marks those without effect, and its filters survive a reload", async () => {
    await rig.toolgate.saveTool("list_ask", { query: "orders", external_api: "yes" });
    await rig.toolgate.saveTool("list_late", { handler, external_api: true, async: true });
    await rig.toolgate.saveTool("list_open", { handler, external_api: true, external_api_write: true });
    const page = await rig.open("/tools");
    const row = (name: string) => page.getByRole("row", { name: new RegExp(name) });
    await page.getByLabel("Name or description").fill("list_");
    await row("list_ask").getByText("released: no effect").waitFor();
    expect(await row("list_ask").innerText()).toContain("Query");
    await row("list_late").getByText("released: no effect").waitFor();
    expect(await row("list_open").innerText()).toMatch(/Handler\s+released\s+writes/);
    await expectAccessible(page);
    await expectToFit(page);
    await page.getByLabel("Flag").selectOption("external_api");
    await row("list_ask").waitFor({ state: "detached" });
    await page.getByLabel("Kind").selectOption("handler");
    await page.getByLabel("Order").selectOption("saved");
    const names = () => page.locator("[data-row]").allInnerTexts();
    await expect.poll(names).toEqual(["list_open", "list_late"]);
    await page.reload();
    await expect.poll(names).toEqual(["list_open", "list_late"]);
    await page.getByLabel("Flag").selectOption("public_api");
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await row("list_ask").waitFor();
    await page.context().close();
  });
});
