import { eventually } from "@toolgate/testbed/eventually";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { describeConsole } from "./console-rig.ts";

describeConsole("the audit log in the console", (rig) => {
  let keyId: string;

  beforeAll(async () => {
    const { toolgate } = rig;
    for (const name of ["greet", "refund"]) {
      await toolgate.saveTool(name, { external_api: true, handler: "export default () => 1;" });
    }
    keyId = (await toolgate.createKey({ name: "Acme", tools: ["greet"], limit: 5 })).id;
    const edit = { keyId, name: "<b>Acme</b>", limit: 9, tools: { names: ["greet", "refund"] } };
    await toolgate.manage("key_auth.v1.KeyService/UpdateKey", edit);
    await toolgate.manage("tool_runner.v1.ToolService/DeleteTool", { name: "refund" });
    // Entries of other services arrive after a moment.
    await eventually(async () => {
      const { entries = [] } = await toolgate.manage<{ entries?: unknown[] }>(
        "key_auth.v1.AuditService/ListAuditEntries",
        { action: "tool.delete" },
      );
      return entries.length === 1;
    });
  });

  test("[MGMT] an admin reads who did what, with the values before and after", async () => {
    const page = await rig.open("/audit");
    const edited = page.getByRole("row", { name: /Edited the API key/ });
    expect(await edited.innerText()).toContain(rig.toolgate.account.email);
    await page.getByRole("row", { name: /Deleted the tool refund/ }).waitFor();
    await edited.click();
    const panel = page.getByRole("complementary", { name: "Edited the API key <b>Acme</b>" });
    const changes = await panel.getByRole("row").allInnerTexts();
    expect(changes.map((text) => text.split(/\t/).map((cell) => cell.trim()))).toEqual([
      ["Field", "Before", "After"],
      ["name", "Acme", "<b>Acme</b>"],
      ["tools", "greet", "greet, refund"],
      ["limit", "5", "9"],
    ]);
    await expectAccessible(page);
    await panel.getByRole("link", { name: "Open it" }).click();
    await page.getByRole("complementary", { name: "<b>Acme</b>" }).waitFor();
    await page.getByRole("link", { name: "Who changed it" }).click();
    await page.getByRole("row", { name: /Created the API key Acme/ }).waitFor();
    expect(new URL(page.url()).searchParams.get("target")).toBe(keyId);
  });

  test("[MGMT] entries are found by action, object and who did it, and the filters survive a reload", async () => {
    const page = await rig.open("/audit");
    const rows = page.getByRole("table", { name: "Audit" }).locator("[data-row]");
    const shows = (...texts: string[]) =>
      // Entries of the same moment have no order.
      eventually(async () => expect((await rows.allInnerTexts()).sort()).toEqual(texts.sort()) ?? true);
    await page.getByLabel("Id of an object, or name of a tool").fill("refund");
    await shows("Deleted the tool refund", "Exposed the tool refund", "Created the tool refund");
    await page.getByLabel("Action").selectOption("Created the tool");
    await shows("Created the tool refund");
    await page.reload();
    await shows("Created the tool refund");
    await page.getByLabel("Action").selectOption("Locked the workspace");
    await page.getByText("Nothing here fits the filters.").waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await page.getByRole("row", { name: /Deleted the tool refund/ }).waitFor();
    await page.getByLabel("Email address of who did it").fill("nobody@example.test");
    await page.keyboard.press("Enter");
    await page.getByText("Nothing here fits the filters.").waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await page.getByRole("row", { name: /Deleted the tool refund/ }).click();
    await page.getByRole("link", { name: "All that they did" }).click();
    const { email } = rig.toolgate.account;
    await eventually(async () => (await page.getByLabel("Email address of who did it").inputValue()) === email);
    await page.getByRole("row", { name: /Deleted the tool refund/ }).waitFor();
  });

  test("[MGMT-4] a manager is told that only admins see it, or the members, and nothing of it is asked for", async () => {
    const manager = await rig.addUser("manager");
    const page = await rig.open("/audit", { user: manager });
    await page.getByText(/Only admins of the workspace can see/).waitFor();
    const asked = await page.evaluate<string[]>("performance.getEntriesByType('resource').map(({ name }) => name)");
    expect(asked.filter((url) => url.includes("/session"))).toHaveLength(1);
    expect(asked.filter((url) => url.includes("AuditService"))).toEqual([]);
    await page.goto(`${rig.toolgate.baseUrl}/manage/members`);
    await page.getByText("Only admins of the workspace can see and manage its members.").waitFor();
  });
});
