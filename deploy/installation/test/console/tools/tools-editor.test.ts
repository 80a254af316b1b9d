import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible, expectToFit } from "../accessibility.ts";
import { describeConsole } from "../console-rig.ts";
import { code, flags, handler, openEditor, rewrite, save, saveButton, saved } from "./tools-rig.ts";

const KEPT = {
  description: "Kept",
  max_result_bytes: 5_000,
  webhook_event: "odd",
  external_api_response: { type: "object" },
};
const PARAMETERS = { type: ["object"], properties: { id: { type: ["integer", "null"], minimum: 1 } } };
const API = { method: "GET", url: "https://shop.example/{{id}}", headers: { accept: "a/b" } };

describeConsole("the editor of a tool", (rig) => {
  const asJson = (page: Page) =>
    page.getByRole("group", { name: "How the definition is edited" }).getByRole("button", { name: "JSON" }).click();

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
    // The example arguments of the example lack it: said at once, and again by a save.
    await page.getByRole("alert").getByText("times is required").waitFor();
    await saveButton(page).click();
    await page.getByRole("alert").getByText("args_fixture.times: is required").waitFor();
    await rewrite(page, "Example arguments", '{ "name": "Bo", "times": 2 }');
    expect(await code(page, "Arguments").innerText()).toContain('"Bo"');
    await save(page, 1);
    expect((await saved(rig, "welcome")).definition).toMatchObject({
      parameters: { properties: { times: { type: "integer" } }, required: ["name", "times"] },
    });
    await page.getByRole("link", { name: "Versions" }).waitFor();
    expect(page.url()).not.toContain("kind=");
  });

  test("[TOOL] each kind is edited in its form, and what the form does not show stays", async () => {
    await rig.toolgate.saveTool("kind_handler", { ...KEPT, parameters: PARAMETERS, handler });
    await rig.toolgate.saveTool("kind_api", { ...KEPT, parameters: PARAMETERS, api: API });
    await rig.toolgate.saveTool("kind_query", { ...KEPT, parameters: PARAMETERS, query: "orders" });
    const open = async (name: string) => {
      await page.getByRole("link", { name: "Tools", exact: true }).click();
      await page.getByRole("button", { name }).click();
    };
    const page = await openEditor(rig, "kind_handler");
    await page.getByText('Set to "odd", which has no effect: only true does.').waitFor();
    // The form cannot show a parameter of two types.
    await code(page, "Parameters").waitFor();
    await rewrite(page, "Handler", "export default () => ({ edited: true });");
    await save(page, 2);
    expect((await saved(rig, "kind_handler")).definition).toEqual({
      ...KEPT,
      parameters: PARAMETERS,
      handler: "export default () => ({ edited: true });",
    });
    await open("kind_api");
    await page.getByLabel("URL").fill("https://shop.example/orders/{{id}}");
    await page.getByLabel("Method").selectOption("POST");
    await rewrite(page, "Body", '{ "id": "{{id}}" }');
    await save(page, 2);
    const api = { ...API, method: "POST", url: "https://shop.example/orders/{{id}}", body: { id: "{{id}}" } };
    expect((await saved(rig, "kind_api")).definition).toEqual({ ...KEPT, parameters: PARAMETERS, api });
    await open("kind_query");
    await page.getByLabel("Prepared query").fill("orders_of");
    await page.getByLabel("Time limit in ms").fill("900");
    await save(page, 2);
    expect((await saved(rig, "kind_query")).definition).toMatchObject({ ...KEPT, query: "orders_of", timeout_ms: 900 });
    await asJson(page);
    await rewrite(page, "Definition", '{ "description": "as JSON", "query": "orders", "max_result_bytes": 7 }');
    await save(page, 3);
    const { definition } = await saved(rig, "kind_query");
    expect(definition).toEqual({ description: "as JSON", query: "orders", max_result_bytes: 7 });
  });

  test("[TOOL] problems are shown while typing, with their position, and JSON that is none is not saved", async () => {
    await rig.toolgate.saveTool("typed", { handler });
    const page = await openEditor(rig, "typed");
    await rewrite(page, "Handler", "export default () => {\n  return }\n};");
    await page.getByText("handler, line 3, column 1").waitFor();
    await page.locator(".cm-lintRange-error").waitFor();
    await page.getByLabel("Time limit in ms").fill("0");
    await page.getByRole("alert").getByText("must be an integer from 1 to 60000").waitFor();
    await saveButton(page).click();
    await page.getByRole("alert").getByText("Handler:3:1").waitFor();
    await rewrite(page, "Handler", handler);
    await page.getByLabel("Time limit in ms").fill("");
    await page.getByText("No problems: this can be saved.").waitFor();
    await rewrite(page, "Example arguments", '{ "a": }');
    await page.getByRole("alert").getByText("This is not JSON yet.").waitFor();
    expect(await saveButton(page).isDisabled()).toBe(true);
    // JavaScript would round it, and save another number.
    for (const label of ["Example arguments", "Arguments"]) await rewrite(page, label, '{ "id": 1234567890123456789 }');
    await page.getByText("A number has more digits than JSON numbers keep.").nth(2).waitFor();
    expect(await page.getByRole("button", { name: "Run" }).isDisabled()).toBe(true);
    expect(await saveButton(page).isDisabled()).toBe(true);
    expect((await saved(rig, "typed")).version).toBe(1);
  });

  test("[TOOL] [WCAG] a dry run tries the draft and shows its writes, log and errors; nothing is saved or sent", async () => {
    const { receiver } = rig.toolgate;
    await rig.toolgate.saveTool("tried", {
      external_api: "yes",
      handler,
      parameters: { type: "object", properties: { a: { type: "string" } } },
    });
    const page = await openEditor(rig, "tried");
    const draft = `export default async (args, ctx) => {
      ctx.log("posting");
      await ctx.fetch("${receiver.url}/orders", { method: "POST", body: { id: 1 } });
      throw new Error("after the post");
    };`;
    await rewrite(page, "Handler", draft);
    const before = receiver.requests.length;
    await page.getByRole("button", { name: "Run" }).click();
    await page.getByRole("region", { name: "Result" }).getByText("after the post").waitFor();
    await page.getByRole("region", { name: "Log" }).getByText("posting").waitFor();
    await page.getByRole("region", { name: "fetch" }).getByText("/orders").waitFor();
    expect(receiver.requests.length).toBe(before);
    expect((await saved(rig, "tried")).version).toBe(1);
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    await asJson(page);
    await code(page, "Definition").waitFor();
    await expectAccessible(page);
    await expectToFit(page);
  });

  test("[TOOL] the keyboard gets into and out of the editor, types no shortcuts, and asks before changes are left", async () => {
    await rig.toolgate.saveTool("typing", { handler });
    const page = await openEditor(rig, "typing");
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
  });

  test("[MGMT] a member reads tools and finds nothing that would change them", async () => {
    await rig.toolgate.saveTool("read_only", { external_api: true, handler });
    await rig.toolgate.saveTool("read_only", { handler });
    const page = await rig.open("/tools", { user: await rig.addUser("member") });
    await page.getByRole("button", { name: "read_only" }).click();
    await page.getByText("Your role may read this, but not change it.").waitFor();
    await code(page, "Handler").click();
    await page.keyboard.type("x");
    expect((await code(page, "Handler").innerText()).trim()).toBe(handler);
    for (const name of ["Save", "Delete", "Run", "Add a parameter"]) {
      expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
    }
    expect(await flags(page).getByLabel("Released for API keys").isDisabled()).toBe(true);
    await page.getByRole("link", { name: "Versions" }).click();
    await page.getByRole("button", { name: "Version 1" }).click();
    await page.getByRole("region", { name: "Differences" }).waitFor();
    expect(await page.getByRole("button", { name: "Restore" }).count()).toBe(0);
    await page.getByRole("link", { name: "Tools", exact: true }).click();
    await page.getByRole("button", { name: "read_only" }).waitFor();
    expect(await page.getByRole("button", { name: "Create tool" }).count()).toBe(0);
  });
});
