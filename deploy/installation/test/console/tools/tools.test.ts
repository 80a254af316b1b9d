import { expect, test } from "vitest";
import { createHook } from "../../hooks/hooks.ts";
import { expectAccessible } from "../accessibility.ts";
import { describeConsole } from "../console-rig.ts";
import { description, flags, handler, openEditor, save, saveButton, saved } from "./tools-rig.ts";

const GUARDED = {
  external_api: "Released for API keys",
  external_api_write: "May write when called by key",
  public_api: "Open to the public API",
  inbound_hook: "Released for hooks",
  inbound_hook_write: "May write when run by a hook",
};

describeConsole("tools in the console", (rig) => {
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
  });

  test("[EXPO-1] [EXPO-2] each of the five flags is set only after a question, whose focus is on Cancel", async () => {
    await rig.toolgate.saveTool("guarded", { handler });
    const page = await openEditor(rig, "guarded");
    const dialog = page.getByRole("dialog", { name: "Open guarded to callers outside?" });
    let version = 1;
    for (const [flag, label] of Object.entries(GUARDED)) {
      await flags(page).getByLabel(label).check();
      await saveButton(page).click();
      // Only what is new is asked.
      await dialog.getByText(label).waitFor();
      expect(await dialog.locator("strong").allInnerTexts()).toEqual([label]);
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "detached" });
      const before = await saved(rig, "guarded");
      expect(before.version).toBe(version);
      expect(before.definition).not.toHaveProperty(flag);
      await page.keyboard.press("Control+s");
      await dialog.getByRole("button", { name: "Save and open it" }).click();
      version += 1;
      await page.getByText(`Version ${version} is saved`).waitFor();
      expect((await saved(rig, "guarded")).definition[flag]).toBe(true);
    }
    // The confirmation was for that one save. This one sets no guarded flag anew, nor does the next.
    await description(page).fill("another description");
    await flags(page).getByLabel("Reports to webhooks").check();
    await save(page, 7);
    for (const label of Object.values(GUARDED)) await flags(page).getByLabel(label).uncheck();
    await flags(page).getByLabel("Async").check();
    await save(page, 8);
    expect((await saved(rig, "guarded")).definition).toEqual({
      description: "another description",
      webhook_event: true,
      async: true,
      handler,
    });
  });

  test("[EXPO-2] the question says how many keys and hooks may call the tool, names them, and says if it may write", async () => {
    await rig.toolgate.saveTool("refund", { external_api: true, handler });
    for (const name of ["Acme", "Globex"]) await rig.toolgate.createKey({ name, tools: ["refund"], limit: 5 });
    await createHook(rig.toolgate, { name: "Shop orders", target: { tool: "refund" } });
    await rig.toolgate.saveTool("refund", { handler });
    const page = await openEditor(rig, "refund");
    await flags(page).getByLabel("Released for API keys").check();
    await flags(page).getByLabel("May write when called by key").check();
    await saveButton(page).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("2 keys may call refund from the internet, and it may write.").waitFor();
    await dialog.getByText("1 hook may run refund, and it may write.").waitFor();
    const named = (await dialog.getByRole("listitem").allInnerTexts()).slice(2);
    expect(named.sort()).toEqual(["Acme", "Globex", "Shop orders"]);
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    // A deletion names them too.
    await page.getByRole("button", { name: "Delete" }).click();
    await dialog.getByText("Globex").waitFor();
    await dialog.getByRole("button", { name: "Delete tool" }).click();
    await page.getByRole("heading", { name: "Tools" }).waitFor();
    await expect(saved(rig, "refund")).rejects.toThrow();
  });

  test("[EXPO-2] [TOOL] a version that was open to callers is restored only after the question", async () => {
    await rig.toolgate.saveTool("restored", { external_api: true, handler: "export default () => ({ old: 1 });" });
    await rig.toolgate.saveTool("restored", { handler });
    const page = await rig.open("/tools/restored?tab=versions");
    await page.getByRole("button", { name: "Version 1" }).click();
    const panel = page.getByRole("complementary", { name: "Version 1" });
    const differences = panel.getByRole("region", { name: "Differences" });
    await differences.waitFor();
    expect(await differences.innerText()).toMatch(/\+.*"external_api": true.*−.*success.*\+.*old: 1/s);
    await expectAccessible(page);
    await panel.getByRole("button", { name: "Restore" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Released for API keys").waitFor();
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect((await saved(rig, "restored")).version).toBe(2);
    await panel.getByRole("button", { name: "Restore" }).click();
    await dialog.getByRole("button", { name: "Save and open it" }).click();
    await page.getByText("Version 1 is restored as version 3").waitFor();
    await page.getByRole("row", { name: /Version 3 Current/ }).waitFor();
    expect(await saved(rig, "restored")).toMatchObject({ version: 3, definition: { external_api: true } });
  });
});
