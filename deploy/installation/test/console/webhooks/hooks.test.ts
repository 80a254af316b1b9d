import { sign } from "@toolgate/webhook-signing/sign";
import type { Locator, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { callHook, createHook } from "../../hooks/hooks.ts";
import { describeConsole } from "../console-rig.ts";
import { ORDER } from "./order.ts";

describeConsole("hooks in the console", (rig) => {
  beforeAll(async () => {
    await rig.toolgate.saveTool("order", ORDER);
    await rig.toolgate.saveTool("hidden", { handler: "export default () => 1;" });
    await rig.toolgate.saveTool("slow", { inbound_hook: true, async: true, handler: "export default () => 1;" });
  });

  const panelOf = (page: Page, name: string) => page.getByRole("complementary", { name });

  /** Opens a hook, and one of the dialogs of its panel. */
  async function openDialog(hookId: string, action: string) {
    const page = await rig.open(`/webhooks/hooks?open=${hookId}`);
    await page.getByRole("complementary").getByRole("button", { name: action, exact: true }).click();
    return { page, dialog: page.getByRole("dialog") };
  }

  /** Reads the secret of the dialog that shows it, and leaves it. */
  async function storeSecret(dialog: Locator, title: string) {
    await dialog.getByRole("heading", { name: title }).waitFor();
    const secret = await dialog.getByLabel("Secret", { exact: true }).inputValue();
    await dialog.getByLabel("I have stored it").check();
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });
    return secret;
  }

  async function choose(page: Page, provider: RegExp, name: string) {
    await page.getByRole("button", { name: "Create hook" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: provider }).click();
    await dialog.getByLabel("Name").fill(name);
    await dialog.getByLabel("Runs").selectOption("tool order");
    return dialog;
  }

  test("[WMGMT-1] [WMGMT-6] [IN-4] [IN-51] [AUTH-21] an admin creates a hook, and sees the first call arrive that is signed with what the page showed", async () => {
    const page = await rig.open("/webhooks/hooks");
    await page.getByText("No hooks yet").waitFor();
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: /^Toolgate's signature/ }).click();
    await dialog.getByLabel("Name").fill("Orders");
    await dialog.getByRole("button", { name: "Create hook" }).click();
    await dialog.getByText("Choose a tool or an assistant.").waitFor();
    const targets = dialog.getByLabel("Runs").locator("option");
    await expect.poll(() => targets.allInnerTexts()).toEqual(["Choose…", "tool order"]);
    await dialog.getByText("Why is something missing here?").click();
    await dialog.getByText("hidden: it is not released for hooks").waitFor();
    await dialog.getByText("slow: it runs async").waitFor();
    await dialog.getByLabel("Runs").selectOption("tool order");
    await dialog.getByRole("button", { name: "Create hook" }).click();
    const url = await dialog.getByLabel("URL").inputValue();
    const secret = await storeSecret(dialog, "Hook created");
    const shown = await page.content();
    for (const once of [secret, url.split("/").at(-1)]) expect(shown).not.toContain(once);

    const panel = panelOf(page, "Orders");
    await panel.getByRole("status").getByText("Waiting for the first call…").waitFor();
    expect(await callHook(rig.toolgate, { path: new URL(url).pathname, secret }, '{"amount":7}')).toMatchObject({
      status: 202,
    });
    await panel.getByRole("status").getByText("The first call has arrived.").waitFor();
    await page.getByRole("row", { name: /Orders.*Active.*tool order/ }).waitFor();
    await panel.getByRole("listitem").filter({ hasText: "Succeeded" }).getByRole("link").click();
    await page.getByText("the tool order succeeded after").waitFor();
  });

  test("[WMGMT-6] [WMGMT-7] [AUTH-20] a provider's secret can follow once the provider shows it, and a hook of GitHub gets one to enter there", async () => {
    const page = await rig.open("/webhooks/hooks");
    let dialog = await choose(page, /^GitHub/, "Repository");
    await dialog.getByRole("button", { name: "Create hook" }).click();
    expect(await storeSecret(dialog, "Hook created")).toMatch(/^[0-9a-f]{64}$/);
    dialog = await choose(page, /^Stripe/, "Payments");
    await dialog.getByRole("button", { name: "Create hook" }).click();
    const url = await dialog.getByLabel("URL").inputValue();
    expect(await dialog.getByLabel("Secret", { exact: true }).count()).toBe(0);
    await dialog.getByLabel("I have stored it").check();
    await dialog.getByRole("button", { name: "Done" }).click();
    const secret = "whsec_of_the_provider";
    const call = (body = '{"amount":7}') => {
      const headers = { "stripe-signature": sign(secret, Math.floor(Date.now() / 1000), body) };
      return rig.toolgate.request(new URL(url).pathname, { method: "POST", headers, body });
    };
    expect(await call()).toMatchObject({ status: 401 });

    await panelOf(page, "Payments").getByRole("button", { name: "Rotate secret" }).click();
    await dialog.getByRole("button", { name: "Rotate secret" }).click();
    await dialog.getByText("This format needs it").waitFor();
    await dialog.getByLabel("Signing secret").fill(secret);
    await dialog.getByRole("button", { name: "Rotate secret" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await call()).toMatchObject({ status: 202 });
  });

  test("[WMGMT] a hook that is off or deleted answers 404, and nothing happens without the answer to a question", async () => {
    const hook = await createHook(rig.toolgate, { name: "Switched", target: { tool: "order" } });
    const { page, dialog } = await openDialog(hook.id, "Deactivate");
    const call = async (amount: number) => (await callHook(rig.toolgate, hook, `{"amount":${amount}}`)).status;
    await dialog.waitFor();
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect(await call(1)).toBe(202);
    const panel = panelOf(page, "Switched");
    await panel.getByRole("button", { name: "Deactivate" }).click();
    await dialog.getByRole("button", { name: "Deactivate" }).click();
    await panel.getByRole("button", { name: "Activate", exact: true }).waitFor();
    expect(await call(2)).toBe(404);
    await panel.getByRole("button", { name: "Activate", exact: true }).click();
    await panel.getByRole("button", { name: "Deactivate" }).waitFor();
    expect(await call(3)).toBe(202);
    await panel.getByRole("button", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("row", { name: /Switched/ }).waitFor({ state: "detached" });
    expect(await call(4)).toBe(404);
  });
});
