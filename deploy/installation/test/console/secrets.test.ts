import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeConsole } from "./console-rig.ts";

const KEPT = `JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, history.state,
  document.documentElement.outerHTML, [...document.querySelectorAll("input, textarea")].map(({ value }) => value)])`;

describeConsole("secrets that are shown once", (rig) => {
  /** Everything that JavaScript can still reach, after a collection. */
  async function heapOf(page: Page): Promise<string> {
    const session = await page.context().newCDPSession(page);
    const chunks: string[] = [];
    session.on("HeapProfiler.addHeapSnapshotChunk", ({ chunk }) => chunks.push(chunk));
    await session.send("HeapProfiler.collectGarbage");
    await session.send("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
    return chunks.join("");
  }

  /** Everything that the page has said on the console until now. */
  function listen(page: Page): string[] {
    const spoken: string[] = [];
    page.on("console", (message) => spoken.push(message.text()));
    return spoken;
  }

  /** Closes the dialog and the panel of what was created, then looks for its secrets everywhere, also after Back. */
  async function expectForgotten(page: Page, spoken: string[], { secrets, name }: { secrets: string[]; name: string }) {
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });
    const panel = page.getByRole("complementary");
    if (await panel.isVisible()) await panel.getByRole("button", { name: "Close" }).click();
    await expect.poll(() => new URL(page.url()).search).toBe("");
    await page.getByRole("table").getByText(name).first().waitFor();
    const places = [await page.evaluate<string>(KEPT), spoken.join("\n"), await heapOf(page)];
    // The heap was read, and what is not secret is found in it.
    expect(places[2]?.includes(name)).toBe(true);
    await page.goto(`${rig.toolgate.baseUrl}/.well-known/jwks.json`);
    await page.goBack();
    await page.getByRole("table").first().waitFor();
    places.push(await page.evaluate<string>(KEPT));
    for (const secret of secrets) for (const place of places) expect(place.includes(secret)).toBe(false);
  }

  test("[KEY-15] [MGMT] a key's secret is on no other place of the page, and nowhere once its dialog is closed", async () => {
    const page = await rig.open("/api-keys");
    const spoken = listen(page);
    await page.getByRole("button", { name: "Create key" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Acme");
    await dialog.getByRole("button", { name: "Create key" }).click();
    const secret = await dialog.getByLabel("Secret").inputValue();
    expect(secret).toMatch(/^svc_live_/);
    await dialog.getByRole("button", { name: /Copy as export/ }).click();
    // It says so only once it is there to be pasted, on plain http too.
    await dialog.getByText("Copied").waitFor();
    await expectForgotten(page, spoken, { secrets: [secret.slice(20)], name: "Acme" });
    const search = page.getByRole("searchbox");
    await search.focus();
    await page.keyboard.press("Control+V");
    expect(await search.inputValue()).toBe(`export SERVICE_API_KEY=${secret}`);
  });

  test("[MGMT-4] the link of an invitation is nowhere once its dialog is closed", async () => {
    const page = await rig.open("/members");
    const spoken = listen(page);
    await page.getByRole("button", { name: "Invite" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Email").fill("grace@example.test");
    await dialog.getByRole("button", { name: "Create link" }).click();
    const secrets = [new URL(await dialog.getByLabel("Link").inputValue()).hash.slice(1)];
    expect(secrets[0]).toMatch(/^[\w-]{43}$/);
    await dialog.getByLabel("I have stored it").check();
    await expectForgotten(page, spoken, { secrets, name: "grace@example.test" });
  });

  test("[OUT-7] [WMGMT] an endpoint's secret is nowhere once its dialog is closed, new or rotated", async () => {
    const page = await rig.open("/webhooks");
    const spoken = listen(page);
    await page.getByRole("button", { name: "Add endpoint" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("URL").fill(`${rig.toolgate.receiver.url}/forgetful`);
    await dialog.getByRole("checkbox", { name: "tool.completed" }).check();
    await dialog.getByRole("button", { name: "Add endpoint" }).click();
    const created = await dialog.getByLabel("Secret").inputValue();
    await dialog.getByLabel("I have stored it").check();
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("complementary").getByRole("button", { name: "Rotate secret" }).click();
    await dialog.getByRole("button", { name: "Rotate secret" }).click();
    const rotated = await dialog.getByLabel("Secret").inputValue();
    expect(new Set([created, rotated]).size).toBe(2);
    await dialog.getByLabel("I have stored it").check();
    const secrets = [created.slice(10), rotated.slice(10)];
    await expectForgotten(page, spoken, { secrets, name: "/forgetful" });
  });

  test("[IN-4] [WMGMT] a hook's URL and secret are nowhere once its dialog is closed", async () => {
    await rig.toolgate.saveTool("order", { inbound_hook: true, handler: "export default () => 1;" });
    const page = await rig.open("/webhooks/hooks");
    const spoken = listen(page);
    await page.getByRole("button", { name: "Create hook" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: /^Toolgate's signature/ }).click();
    await dialog.getByLabel("Name").fill("Orders");
    await dialog.getByLabel("Runs").selectOption("tool order");
    await dialog.getByRole("button", { name: "Create hook" }).click();
    const url = await dialog.getByLabel("URL").inputValue();
    const secret = await dialog.getByLabel("Secret", { exact: true }).inputValue();
    await dialog.getByLabel("I have stored it").check();
    const secrets = [new URL(url).pathname.split("/").at(-1) ?? "", secret.slice(10)];
    for (const each of secrets) expect(each.length).toBeGreaterThan(10);
    await expectForgotten(page, spoken, { secrets, name: "Orders" });
  });
});
