import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { type ConsoleRig, chromium, startConsole } from "./console-rig.ts";

if (!chromium) test.skip("not run: Chromium is not on this machine", () => {});

const handler = "export default () => ({ success: true });";
const GUARDED = [
  ["external_api", "Released for API keys"],
  ["external_api_write", "May write when called by key"],
  ["public_api", "Open to the public API"],
  ["inbound_hook", "Released for hooks"],
  ["inbound_hook_write", "May write when run by a hook"],
] as const;

interface SavedTool {
  version: number;
  definition: Record<string, unknown>;
}

describe.skipIf(!chromium)("tools in the console", () => {
  let rig: ConsoleRig;
  beforeAll(async () => {
    rig = await startConsole();
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());
  afterEach(async () => {
    expect(rig.problems.splice(0)).toEqual([]);
  });

  const saved = async (name: string): Promise<SavedTool> =>
    (await rig.toolgate.manage<{ tool: SavedTool }>("tool_runner.v1.ToolService/GetTool", { name })).tool;
  const editor = async (name: string, options = {}): Promise<Page> => {
    const page = await rig.open(`/tools/${name}`, options);
    await page.getByText("No problems: this can be saved.").waitFor();
    return page;
  };
  const save = async (page: Page, version: number): Promise<void> => {
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText(`Version ${version} is saved`).waitFor();
  };
  const description = (page: Page) => page.getByLabel("Description", { exact: true }).first();
  const code = (page: Page, label: string) => page.getByRole("textbox", { name: label, exact: true });
  const flags = (page: Page) => page.getByRole("group", { name: "Who may call it" });

  test.each(GUARDED)(
    "[EXPO-1] [EXPO-2] %s is set only after a question, whose focus is on Cancel",
    async (flag, label) => {
      const name = `guarded_${flag}`;
      await rig.toolgate.saveTool(name, { handler });
      const page = await editor(name);
      await flags(page).getByLabel(label).check();
      await page.getByRole("button", { name: "Save", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: `Open ${name} to callers outside?` });
      await dialog.getByText(label).waitFor();
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "detached" });
      expect(await saved(name)).toMatchObject({
        version: 1,
        definition: expect.not.objectContaining({ [flag]: true }),
      });
      await page.keyboard.press("Control+s");
      await dialog.getByRole("button", { name: "Save and open it" }).click();
      await page.getByText("Version 2 is saved").waitFor();
      expect((await saved(name)).definition[flag]).toBe(true);
      // The confirmation was for that one save, and this one sets nothing anew.
      await description(page).fill("another description");
      await save(page, 3);
      await flags(page).getByLabel(label).uncheck();
      await save(page, 4);
      expect((await saved(name)).definition).not.toHaveProperty(flag);
      await page.context().close();
    },
  );

  test("[EXPO-2] the question says how many keys and hooks may call the tool, names them, and says if it may write", async () => {
    await rig.toolgate.saveTool("refund", { external_api: true, handler });
    for (const name of ["Acme", "Globex"]) await rig.toolgate.createKey({ name, tools: ["refund"], limit: 5 });
    await rig.toolgate.manage("inbound_hook.v1.HookService/CreateHook", {
      name: "Shop orders",
      format: "HOOK_FORMAT_NATIVE",
      target: { tool: "refund" },
    });
    await rig.toolgate.saveTool("refund", { handler });
    const page = await editor("refund");
    await flags(page).getByLabel("Released for API keys").check();
    await flags(page).getByLabel("May write when called by key").check();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("2 keys may call refund from the internet, and it may write.").waitFor();
    await dialog.getByText("1 hook may run refund, and it may write.").waitFor();
    expect((await dialog.getByRole("listitem").allInnerTexts()).slice(2).sort()).toEqual([
      "Acme",
      "Globex",
      "Shop orders",
    ]);
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await dialog.getByText("Globex").waitFor();
    await dialog.getByRole("button", { name: "Delete tool" }).click();
    await page.getByRole("heading", { name: "Tools" }).waitFor();
    await expect(saved("refund")).rejects.toThrow();
    await page.context().close();
  });

  test("[TOOL] a created tool begins with an example that runs, and is saved as it was edited", async () => {
    await rig.toolgate.saveTool("taken", { handler });
    const page = await rig.open("/tools");
    await page.getByRole("row", { name: /taken/ }).waitFor();
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("taken");
    await dialog.getByRole("button", { name: "Open the editor" }).click();
    await dialog.getByText("There is a tool with this name already.").waitFor();
    await expectAccessible(page);
    await dialog.getByLabel("Name").fill("welcome");
    await dialog.getByRole("button", { name: "Open the editor" }).click();
    await page.getByText("Not saved yet").waitFor();
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("region", { name: "Result" }).getByText('"greeting": "Hello, Ada!"').waitFor();
    await page.getByRole("region", { name: "Log" }).getByText("greeting Ada").waitFor();
    await page.getByRole("button", { name: "Add a parameter" }).click();
    await page.keyboard.type("times");
    const row = page.getByRole("group", { name: "times" });
    await row.getByLabel("Type").selectOption("integer");
    await row.getByLabel("Required").check();
    await save(page, 1);
    expect((await saved("welcome")).definition).toMatchObject({
      parameters: { properties: { times: { type: "integer" } }, required: ["name", "times"] },
    });
    await page.getByRole("link", { name: "Versions" }).waitFor();
    expect(page.url()).not.toContain("kind=");
    await page.context().close();
  });

  test("[TOOL] each kind is edited in its form, and what the form does not show stays", async () => {
    const kept = { max_result_bytes: 5_000, webhook_event: "odd", external_api_response: { type: "object" } };
    const parameters = { type: ["object"], properties: { id: { type: ["integer", "null"], minimum: 1 } } };
    const api = { method: "GET", url: "https://shop.example/{{id}}", headers: { accept: "a/b" } };
    await rig.toolgate.saveTool("kind_handler", { ...kept, parameters, handler });
    await rig.toolgate.saveTool("kind_api", { ...kept, parameters, api });
    await rig.toolgate.saveTool("kind_query", { ...kept, parameters, query: "orders" });
    const page = await editor("kind_handler");
    await page.getByText('Set to "odd", which has no effect: only true does.').waitFor();
    // The form cannot show a parameter of two types.
    await code(page, "Parameters").waitFor();
    await code(page, "Handler").fill("export default () => ({ edited: true });");
    await save(page, 2);
    const { definition } = await saved("kind_handler");
    expect(definition).toMatchObject({ ...kept, parameters, handler: "export default () => ({ edited: true });" });
    await page.getByRole("link", { name: "Tools" }).click();
    await page.getByRole("button", { name: "kind_api" }).click();
    await page.getByLabel("URL").fill("https://shop.example/orders/{{id}}");
    await page.getByLabel("Method").selectOption("POST");
    await code(page, "Body").fill('{ "id": "{{id}}" }');
    await save(page, 2);
    expect((await saved("kind_api")).definition).toMatchObject({
      ...kept,
      parameters,
      api: { ...api, method: "POST", url: "https://shop.example/orders/{{id}}", body: { id: "{{id}}" } },
    });
    await page.getByRole("link", { name: "Tools" }).click();
    await page.getByRole("button", { name: "kind_query" }).click();
    await page.getByLabel("Prepared query").fill("orders_of");
    await page.getByLabel("Time limit in ms").fill("900");
    await save(page, 2);
    expect((await saved("kind_query")).definition).toMatchObject({ ...kept, query: "orders_of", timeout_ms: 900 });
    await page.getByRole("group", { name: "How the definition is edited" }).getByText("JSON").click();
    await code(page, "Definition").fill('{ "description": "as JSON", "query": "orders", "max_result_bytes": 7 }');
    await save(page, 3);
    expect((await saved("kind_query")).definition).toEqual({
      description: "as JSON",
      query: "orders",
      max_result_bytes: 7,
    });
    await page.context().close();
  });

  test("[TOOL] problems are shown while typing, with their position, and JSON that is none is not saved", async () => {
    await rig.toolgate.saveTool("typed", { handler });
    const page = await editor("typed");
    await code(page, "Handler").fill("export default () => {\n  return }\n};");
    await page.getByText("handler, line 3, column 1").waitFor();
    await page.locator(".cm-lintRange-error").waitFor();
    await page.getByLabel("Time limit in ms").fill("0");
    await page.getByRole("alert").getByText("must be an integer from 1 to 60000").waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("alert").getByText("Handler:3:1").waitFor();
    await code(page, "Handler").fill(handler);
    await page.getByLabel("Time limit in ms").fill("");
    await page.getByText("No problems: this can be saved.").waitFor();
    await code(page, "Example arguments").fill("{");
    await page.getByRole("alert").getByText("This is not JSON yet.").waitFor();
    expect(await page.getByRole("button", { name: "Save", exact: true }).isDisabled()).toBe(true);
    expect((await saved("typed")).version).toBe(1);
    await page.context().close();
  });

  test("[TOOL] a dry run tries the draft and shows its writes, log and errors; nothing is saved or sent", async () => {
    const posts = () => rig.toolgate.receiver.requests.length;
    await rig.toolgate.saveTool("tried", { handler });
    const page = await editor("tried");
    await code(page, "Handler").fill(`export default async (args, ctx) => {
      ctx.log("posting");
      await ctx.fetch("${rig.toolgate.receiver.url}/orders", { method: "POST", body: { id: 1 } });
      throw new Error("after the post");
    };`);
    const before = posts();
    await page.getByText("No problems: this can be saved.").waitFor();
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("region", { name: "Result" }).getByText("after the post").waitFor();
    await page.getByRole("region", { name: "Log" }).getByText("posting").waitFor();
    await page.getByRole("region", { name: "fetch" }).getByText("/orders").waitFor();
    expect(posts()).toBe(before);
    expect((await saved("tried")).version).toBe(1);
    await page.context().close();
  });

  test("[MGMT] when two admins edit a tool, the second is told who saved what, and nothing is lost", async () => {
    await rig.toolgate.saveTool("both", { handler });
    const other = await rig.addUser("admin");
    const [first, second] = [await editor("both"), await editor("both", { user: other })];
    await description(first).fill("the first one's text");
    await description(second).fill("the second one's text");
    await save(first, 2);
    await second.getByRole("button", { name: "Save", exact: true }).click();
    const told = second.getByRole("alert").getByText("saved version 2");
    expect(await told.innerText()).toContain(rig.toolgate.account.email);
    expect(await description(second).inputValue()).toBe("the second one's text");
    expect((await saved("both")).definition.description).toBe("the first one's text");
    await second.getByRole("button", { name: "Compare" }).click();
    const differences = second.getByRole("region", { name: "Differences" });
    expect(await differences.innerText()).toMatch(/−.*first one's text.*\+.*second one's text/s);
    await expectAccessible(second);
    await second.keyboard.press("Escape");
    await second.getByRole("button", { name: "Save over it" }).click();
    await second.getByText("Version 3 is saved").waitFor();
    const { tool } = await rig.toolgate.manage<{ tool: SavedTool }>("tool_runner.v1.ToolService/GetToolVersion", {
      name: "both",
      version: 2,
    });
    expect(tool.definition.description).toBe("the first one's text");
    for (const page of [first, second]) await page.context().close();
  });

  test("[EXPO-2] [TOOL] versions show what changed, and one is restored after the question", async () => {
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
    expect((await saved("restored")).version).toBe(2);
    await panel.getByRole("button", { name: "Restore" }).click();
    await dialog.getByRole("button", { name: "Save and open it" }).click();
    await page.getByText("Version 1 is restored as version 3").waitFor();
    await page.getByRole("row", { name: /Version 3 Current/ }).waitFor();
    expect(await saved("restored")).toMatchObject({ version: 3, definition: { external_api: true } });
    await page.context().close();
  });

  test("[TOOL] a deleted tool can be restored from its versions", async () => {
    await rig.toolgate.saveTool("gone", { handler });
    await rig.toolgate.manage("tool_runner.v1.ToolService/DeleteTool", { name: "gone" });
    const page = await rig.open("/tools/gone");
    await page.getByText("There is no tool gone").waitFor();
    await page.getByRole("button", { name: "Version 1" }).click();
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByText("Version 1 is restored as version 2").waitFor();
    expect((await saved("gone")).version).toBe(2);
    await page.context().close();
  });

  test("[MGMT] a member reads tools and finds nothing that would change them", async () => {
    await rig.toolgate.saveTool("read_only", { external_api: true, handler });
    await rig.toolgate.saveTool("read_only", { handler });
    const page = await rig.open("/tools", { user: await rig.addUser("member") });
    await page.getByRole("button", { name: "read_only" }).click();
    await page.getByText("Your role may read tools, but not change them.").waitFor();
    expect(await code(page, "Handler").innerText()).toContain("success: true");
    await code(page, "Handler").click();
    await page.keyboard.type("x");
    expect(await code(page, "Handler").innerText()).not.toContain("x ");
    for (const name of ["Save", "Delete", "Run", "Add a parameter"]) {
      expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
    }
    expect(await flags(page).getByLabel("Released for API keys").isDisabled()).toBe(true);
    await page.getByRole("link", { name: "Versions" }).click();
    await page.getByRole("button", { name: "Version 1" }).click();
    await page.getByRole("region", { name: "Differences" }).waitFor();
    expect(await page.getByRole("button", { name: "Restore" }).count()).toBe(0);
    await page.getByRole("link", { name: "Tools" }).click();
    await page.getByRole("button", { name: "read_only" }).waitFor();
    expect(await page.getByRole("button", { name: "Create tool" }).count()).toBe(0);
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
    await page.getByLabel("Flag").selectOption("external_api");
    await row("list_ask").waitFor({ state: "detached" });
    await page.getByLabel("Kind").selectOption("handler");
    await page.getByLabel("Order").selectOption("saved");
    await expect.poll(() => page.locator("[data-row]").allInnerTexts()).toEqual(["list_open", "list_late"]);
    await page.reload();
    await expect.poll(() => page.locator("[data-row]").allInnerTexts()).toEqual(["list_open", "list_late"]);
    await page.getByLabel("Flag").selectOption("public_api");
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await row("list_ask").waitFor();
    await page.context().close();
  });

  test("[TOOL] the keyboard gets into and out of the editor, types no shortcuts, and asks before changes are left", async () => {
    await rig.toolgate.saveTool("typing", { handler });
    const page = await editor("typing");
    await code(page, "Handler").focus();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("\n// c?j/");
    await page.keyboard.press("Tab");
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(await code(page, "Handler").innerText()).toContain("// c?j/");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.shadowRoot")).toBeNull();
    await page.getByRole("link", { name: "Versions" }).click();
    const dialog = page.getByRole("dialog", { name: "Leave without saving?" });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(await code(page, "Handler").innerText()).toContain("// c?j/");
    await page.keyboard.press("Control+s");
    await page.getByText("Version 2 is saved").waitFor();
    await page.getByRole("link", { name: "Versions" }).click();
    await page.getByRole("button", { name: "Version 2" }).waitFor();
    await page.context().close();
  });

  test.each(["light", "dark"] as const)(
    "[WCAG] the pages of tools have no violations in the %s theme, and fit on a phone",
    async (colorScheme) => {
      await rig.toolgate.saveTool("accessible", {
        external_api: "yes",
        handler,
        parameters: { properties: { a: { type: "string" } } },
      });
      const page = await editor("accessible", { colorScheme });
      await expectAccessible(page);
      await page.getByRole("button", { name: "Run" }).click();
      await page.getByText(/^Took/).waitFor();
      await flags(page).getByLabel("Open to the public API").check();
      await page.keyboard.press("Control+s");
      await page.getByRole("dialog").getByText("Anyone may call").waitFor();
      await expectAccessible(page);
      await page.keyboard.press("Escape");
      await page.setViewportSize({ width: 360, height: 740 });
      const overflow = () => page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      expect(await overflow()).toBe(0);
      await page.getByRole("group", { name: "How the definition is edited" }).getByText("JSON").click();
      await code(page, "Definition").waitFor();
      await expectAccessible(page);
      expect(await overflow()).toBe(0);
      await page.context().close();
    },
  );
});
