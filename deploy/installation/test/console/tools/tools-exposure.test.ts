import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { expectAccessible } from "../accessibility.ts";
import { type ConsoleRig, chromium, startConsole } from "../console-rig.ts";
import { description, flags, handler, openEditor, save, saveButton, saved } from "./tools-rig.ts";

if (!chromium) test.skip("not run: Chromium is not on this machine", () => {});

const GUARDED = {
  external_api: "Released for API keys",
  external_api_write: "May write when called by key",
  public_api: "Open to the public API",
  inbound_hook: "Released for hooks",
  inbound_hook_write: "May write when run by a hook",
};

describe.skipIf(!chromium)("the question before a tool is opened to callers outside", () => {
  let rig: ConsoleRig;
  beforeAll(async () => {
    rig = await startConsole();
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());
  afterEach(() => expect(rig.problems.splice(0)).toEqual([]));

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
    await page.context().close();
  });

  test("[EXPO-2] the question says how many keys and hooks may call the tool, names them, and says if it may write", async () => {
    await rig.toolgate.saveTool("refund", { external_api: true, handler });
    for (const name of ["Acme", "Globex"]) await rig.toolgate.createKey({ name, tools: ["refund"], limit: 5 });
    await rig.toolgate.manage("inbound_hook.v1.HookService/CreateHook", {
      name: "Shop orders",
      format: "HOOK_FORMAT_NATIVE",
      target: { tool: "refund" },
    });
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
    await page.context().close();
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
    await page.context().close();
  });
});
