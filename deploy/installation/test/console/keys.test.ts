import { eventually } from "@toolgate/testbed/eventually";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { describeConsole } from "./console-rig.ts";

describeConsole("API keys in the console", (rig) => {
  beforeAll(async () => {
    const handler = "export default () => ({ success: true });";
    for (const name of ["greet", "refund"]) await rig.toolgate.saveTool(name, { external_api: true, handler });
    await rig.toolgate.saveTool("hidden", { handler });
  });

  const keyOf = async (keyId: string) =>
    (await rig.toolgate.manage<{ key: { callsTotal: string } }>("key_auth.v1.KeyService/GetKey", { keyId })).key;

  test("[MGMT-1] [MGMT-6] [MGMT-7] [MGMT-8] [MGMT-14] [MGMT-15] an admin creates a key, and its secret calls the tool", async () => {
    const page = await rig.open("/api-keys");
    await page.getByText("No API keys yet").waitFor();
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Acme");
    // Only what can be called by key is offered.
    await expect.poll(() => dialog.getByRole("checkbox").count()).toBe(2);
    await dialog.getByLabel("greet").check();
    await dialog.getByLabel("Calls per minute").fill("0");
    await dialog.getByRole("button", { name: "Create key" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("Calls per minute").fill("7");
    await dialog.getByRole("button", { name: "Create key" }).click();
    const secret = await dialog.getByLabel("Secret").inputValue();
    expect(await rig.toolgate.call("greet", secret)).toMatchObject({ status: 200 });
    // It asks before it closes, because nobody can show the secret again.
    await page.keyboard.press("Escape");
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("I have stored it").check();
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(secret);
    const row = page.getByRole("row", { name: /Acme/ });
    expect(await row.innerText()).toMatch(/Active.*svc_live_.*greet.*7\/min/s);
  });

  test("[MGMT-9] [MGMT-10] [MGMT-11] [MGMT-12] [MGMT-18] every field of a key can be changed, and a tool without release is red", async () => {
    const { id } = await rig.toolgate.createKey({ name: "Old", tools: ["greet", "refund"], limit: 5 });
    await rig.toolgate.saveTool("refund", { handler: "export default () => 1;" });
    const page = await rig.open(`/api-keys?open=${id}`);
    const panel = page.getByRole("complementary", { name: "Old" });
    const red = panel.getByTitle("Not released, async or deleted: calls get 403.");
    expect(await red.innerText()).toContain("refund");
    await panel.getByRole("button", { name: "Edit", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("New");
    await dialog.getByLabel("refund").uncheck();
    await dialog.getByLabel("Calls per minute").fill("9");
    await dialog.getByLabel("Valid through").fill("2030-01-31");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await keyOf(id)).toMatchObject({
      name: "New",
      tools: ["greet"],
      limit: 9,
      expiresAt: "2030-02-01T00:00:00Z",
    });
  });

  test("[MGMT-9] [MGMT-10] a key that is renamed before the list of tools has come keeps its tools", async () => {
    await rig.toolgate.saveTool("another", { external_api: true, handler: "export default () => 1;" });
    const { id } = await rig.toolgate.createKey({ name: "Slow list", tools: ["greet"], limit: 5 });
    const page = await rig.open(`/api-keys?open=${id}`);
    const lists = "**/toolgate.tool_runner.v1.ToolService/ListTools*";
    await page.route(lists, (route) => route.fulfill({ status: 503 }));
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    const dialog = page.getByRole("dialog");
    const retry = dialog.getByRole("button", { name: "Retry" });
    await retry.waitFor();
    expect(await dialog.getByLabel("greet").isChecked()).toBe(true);
    await page.unroute(lists);
    await retry.click();
    expect(await dialog.getByLabel("another").isChecked()).toBe(false);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.reload();
    await page.route(lists, () => {});
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await dialog.getByLabel("Name").fill("Renamed at once");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await keyOf(id)).toMatchObject({ name: "Renamed at once", tools: ["greet"] });
  });

  test("[MGMT-5] [MGMT-16] [MGMT-17] [MGMT-20] [MGMT-21] [MGMT-22] the list counts calls, and the panel shows the last ones", async () => {
    const { id, secret } = await rig.toolgate.createKey({ name: "Busy", tools: ["greet"], limit: 2 });
    const statuses = [];
    for (let call = 0; call < 3; call += 1) statuses.push((await rig.toolgate.call("greet", secret)).status);
    await eventually(async () => {
      const listed = await rig.toolgate.manage<{ calls?: object[] }>("key_auth.v1.KeyService/ListKeyCalls", {
        keyId: id,
      });
      return listed.calls?.length === 3;
    });
    const page = await rig.open(`/api-keys?open=${id}`);
    const panel = page.getByRole("complementary", { name: "Busy" });
    const calls = panel.getByRole("row").filter({ hasText: "greet" });
    await calls.nth(2).waitFor();
    const shown = await calls.allInnerTexts();
    expect(shown.map((text) => Number(/\b(?:200|429)\b/.exec(text)?.[0])).sort()).toEqual(statuses.sort());
    for (const text of shown) expect(text).toMatch(/\d+ ms/);
    const { callsTotal } = await keyOf(id);
    const row = page.getByRole("row", { name: /Busy/ });
    expect(await row.innerText()).toMatch(new RegExp(`${callsTotal}$`));
    const hours = row
      .getByRole("img", { name: /^Calls with Busy in the last 24 hours: \d, 0 failed$/ })
      .locator("title");
    expect(await hours.last().textContent()).toMatch(/^From \d\d:\d\d: \d, 0 failed; half within \d+ ms/);
  });

  test("[MGMT-13] a key is revoked only after a question, whose focus is on Cancel", async () => {
    const { id, secret } = await rig.toolgate.createKey({ name: "Gone", tools: ["greet"], limit: 5 });
    const page = await rig.open(`/api-keys?open=${id}`);
    await page.getByRole("button", { name: "Revoke" }).click();
    const dialog = page.getByRole("dialog", { name: "Revoke Gone?" });
    await dialog.waitFor();
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect((await rig.toolgate.call("greet", secret)).status).toBe(200);
    await page.getByRole("button", { name: "Revoke" }).click();
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await rig.toolgate.call("greet", secret)).status).toBe(401);
    // What was known of the last call may be older than the answer.
    await page
      .getByRole("status")
      .getByText(/^Gone is revoked\. Its last call was accepted at \d/)
      .waitFor();
    await page.getByRole("complementary").getByText("Revoked").waitFor();
  });

  test("[MGMT] a dialog stays until the answer has come, so that no secret is lost", async () => {
    const { id } = await rig.toolgate.createKey({ name: "Ours", tools: ["greet"], limit: 5 });
    const page = await rig.open(`/api-keys?open=${id}`);
    const answer = Promise.withResolvers<void>();
    await page.route("**/toolgate.key_auth.v1.KeyService/RotateKey", async (route) => {
      await answer.promise;
      await route.continue();
    });
    await page.getByRole("button", { name: "Rotate" }).click();
    const dialog = page.getByRole("dialog");
    const called = page.waitForRequest("**/RotateKey");
    await dialog.getByRole("button", { name: "Rotate" }).click();
    await called;
    await page.keyboard.press("Escape");
    await page.mouse.click(5, 5);
    await dialog.getByRole("button", { name: "Close" }).click();
    await dialog.getByRole("button", { name: "Cancel" }).click({ force: true });
    answer.resolve();
    expect(await dialog.getByLabel("Secret", { exact: true }).inputValue()).toMatch(/^svc_live_/);
  });

  test("[MGMT] what was entered is discarded only after a question, and never by a click beside the dialog", async () => {
    const page = await rig.open("/api-keys");
    const dialog = page.getByRole("dialog", { name: "Create key" });
    const open = async () => {
      await page.getByRole("button", { name: "Create key" }).click();
      await dialog.waitFor();
    };
    await open();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await open();
    await dialog.getByLabel("Name").fill("Typed");
    await page.mouse.click(5, 5);
    const question = page.getByRole("dialog", { name: "Discard what you entered?" });
    expect(await question.count()).toBe(0);
    await page.keyboard.press("Escape");
    await question.waitFor();
    await question.locator(":focus", { hasText: "Keep editing" }).waitFor();
    await page.keyboard.press("Enter");
    await question.waitFor({ state: "detached" });
    expect(await dialog.getByLabel("Name").inputValue()).toBe("Typed");
    await dialog.getByRole("button", { name: "Close" }).click();
    await question.getByRole("button", { name: "Discard" }).click();
    await dialog.waitFor({ state: "detached" });
  });

  test("[MGMT-9] [MGMT-11] of two admins who edit a key at once, the second is told, keeps what was typed, and decides", async () => {
    const { id } = await rig.toolgate.createKey({ name: "Shared", tools: ["greet"], limit: 5 });
    const other = await rig.addUser("admin");
    const [first, second] = await Promise.all(
      [rig.toolgate.account, other].map(async (user) => {
        const page = await rig.open(`/api-keys?open=${id}`, { user });
        await page.getByRole("button", { name: "Edit", exact: true }).click();
        return { page, dialog: page.getByRole("dialog", { name: "Edit Shared" }) };
      }),
    );
    if (!first || !second) throw new Error("two pages were opened");
    await first.dialog.getByLabel("Calls per minute").fill("50");
    await second.dialog.getByLabel("Name").fill("Renamed");
    await first.dialog.getByRole("button", { name: "Save" }).click();
    await first.dialog.waitFor({ state: "detached" });
    // Even if the second page has read the key again meanwhile.
    await second.page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
    await second.dialog.getByRole("button", { name: "Save" }).click();
    const told = await second.dialog.getByRole("alert").innerText();
    expect(told).toContain(`${rig.toolgate.account.email} saved version 2 at `);
    expect(await keyOf(id)).toMatchObject({ name: "Shared", limit: 50, version: 2 });
    expect(await second.dialog.getByLabel("Name").inputValue()).toBe("Renamed");
    await expectAccessible(second.page);
    await second.dialog.getByRole("button", { name: "Save over it" }).click();
    await second.dialog.waitFor({ state: "detached" });
    // Only what the second has changed is saved over: the limit of the first stays.
    expect(await keyOf(id)).toMatchObject({ name: "Renamed", limit: 50, version: 3, savedBy: other.email });
  });

  test("[MGMT] the key doctor tells why a call is refused, and each gate leads to the field that opens it", async () => {
    const { id } = await rig.toolgate.createKey({
      name: "Ill",
      tools: ["greet"],
      limit: 1,
      expiry: { date: "2020-01-31" },
      allowedNetworks: ["203.0.113.0/24"],
    });
    await rig.toolgate.saveTool("slow", { async: true, handler: "export default () => 1;" });
    const page = await rig.open(`/api-keys?open=${id}`);
    const panel = page.getByRole("complementary", { name: "Ill" });
    await panel.getByLabel("Tool", { exact: true }).fill("slow");
    await panel.getByLabel("Caller's address").fill("198.51.100.7");
    await panel.getByRole("button", { name: "Check" }).click();
    await panel.getByText("A call would get 401.").waitFor();
    for (const refusal of ["The key has expired", "The tool is not released", "The tool is async"]) {
      await panel.getByRole("listitem").filter({ hasText: refusal }).waitFor();
    }
    const dialog = page.getByRole("dialog", { name: "Edit Ill" });
    for (const [remedy, field] of [
      ["Change the expiry date", "[name=expiry]:focus"],
      ["Change the networks", "[name=allowed_networks]:focus"],
      ["Change the tools", ":focus:has([name=tools])"],
    ] as const) {
      await panel.getByRole("button", { name: remedy }).click();
      await dialog.locator(field).waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
    }
    await expectAccessible(page);
    const addresses = await Promise.all(
      ["Open its release", "Open its definition"].map((name) => panel.getByRole("link", { name }).getAttribute("href")),
    );
    expect(addresses).toEqual(["/manage/tools/slow?tab=api", "/manage/tools/slow?tab=definition"]);
  });

  test("[KEY-6] [MGMT-18] keys are ordered by expiry, and those with unavailable tools are found", async () => {
    for (const [name, date] of [
      ["Ends last", "2999-12-31"],
      ["Ends first", "2998-12-31"],
    ]) {
      await rig.toolgate.createKey({ name, tools: ["greet"], expiry: { date } });
    }
    await rig.toolgate.saveTool("short-lived", { external_api: true, handler: "export default () => 1;" });
    await rig.toolgate.createKey({ name: "Has red", tools: ["greet", "short-lived"] });
    await rig.toolgate.manage("tool_runner.v1.ToolService/DeleteTool", { name: "short-lived" });
    const page = await rig.open("/api-keys?search=Ends");
    const names = page.getByRole("table", { name: "API keys" }).locator("[data-row]");
    await page.getByLabel("Order").selectOption("First to expire first");
    await eventually(async () => expect(await names.allInnerTexts()).toEqual(["Ends first", "Ends last"]) ?? true);
    await page.goto(`${rig.toolgate.baseUrl}/manage/api-keys?search=Has`);
    await page.getByRole("combobox", { name: "Tools" }).selectOption("With unavailable tools");
    await eventually(async () => expect(await names.allInnerTexts()).toEqual(["Has red"]) ?? true);
    await page.reload();
    const row = page.getByRole("row", { name: /Has red/ });
    await row.getByTitle("Not released, async or deleted: calls get 403.").waitFor();
  });
});
