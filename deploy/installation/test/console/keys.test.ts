import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type ConsoleRig, chromium, startConsole } from "./console-rig.ts";

if (!chromium) test.skip("not run: Chromium is not on this machine", () => {});

describe.skipIf(!chromium)("API keys in the console", () => {
  let rig: ConsoleRig;

  beforeAll(async () => {
    rig = await startConsole();
    const handler = "export default () => ({ success: true });";
    for (const name of ["greet", "refund"]) await rig.toolgate.saveTool(name, { external_api: true, handler });
    await rig.toolgate.saveTool("hidden", { handler });
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());
  afterEach(async () => {
    expect(rig.problems.splice(0)).toEqual([]);
  });

  test("[MGMT-1] [MGMT-6] [MGMT-7] [MGMT-8] [MGMT-14] [MGMT-15] an admin creates a key, and its secret calls the tool", async () => {
    const page = await rig.open("/api-keys");
    await page.getByText("No API keys yet").waitFor();
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Acme");
    // Only what can be called by key is offered.
    expect(await dialog.getByRole("checkbox").count()).toBe(2);
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
    expect(await row.innerText()).toMatch(/svc_live_.*Active.*greet.*7\/min/s);
    await page.context().close();
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
    const { key } = await rig.toolgate.manage<{ key: object }>("key_auth.v1.KeyService/GetKey", { keyId: id });
    expect(key).toMatchObject({ name: "New", tools: ["greet"], limit: 9, expiresAt: "2030-02-01T00:00:00Z" });
    await page.context().close();
  });

  test("[MGMT-5] [MGMT-16] [MGMT-17] [MGMT-20] [MGMT-21] [MGMT-22] the list counts calls, and the panel shows the last ones", async () => {
    const { id, secret } = await rig.toolgate.createKey({ name: "Busy", tools: ["greet"], limit: 2 });
    const statuses = [];
    for (let call = 0; call < 3; call += 1) statuses.push((await rig.toolgate.call("greet", secret)).status);
    const page = await rig.open(`/api-keys?open=${id}`);
    const panel = page.getByRole("complementary", { name: "Busy" });
    const calls = panel.getByRole("row").filter({ hasText: "greet" });
    await calls.nth(2).waitFor();
    const shown = await calls.allInnerTexts();
    expect(shown.map((text) => Number(/\b(?:200|429)\b/.exec(text)?.[0])).sort()).toEqual(statuses.sort());
    for (const text of shown) expect(text).toMatch(/\d+ ms/);
    const { key } = await rig.toolgate.manage<{ key: { callsTotal: string } }>("key_auth.v1.KeyService/GetKey", {
      keyId: id,
    });
    expect(await page.getByRole("row", { name: /Busy/ }).innerText()).toMatch(new RegExp(`${key.callsTotal}$`));
    await page.context().close();
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
    await page.getByRole("complementary").getByText("Revoked").waitFor();
    await page.context().close();
  });
});
