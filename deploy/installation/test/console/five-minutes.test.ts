import { mkdir } from "node:fs/promises";
import { provision } from "@toolgate/key-auth/operator/provision";
import type { Locator, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { describeConsole } from "./console-rig.ts";

/** Where `make screenshots` wants the pictures of docs/admins.md. */
const { SCREENSHOTS } = process.env;
const ADMIN = { workspace: "acme", email: "ada@acme.example", password: "a good password", role: "admin" } as const;
const MAX_TABS = 80;

describeConsole("the first five minutes of an admin", (rig) => {
  let page: Page;

  beforeAll(async () => {
    await provision(rig.toolgate.pool, ADMIN);
    rig.toolgate.receiver.behave(() => ({ status: 500, body: "no such table: orders" }));
    page = await rig.open("/login", { user: null, viewport: { width: 1280, height: 720 } });
  });

  const press = (key: string) => page.keyboard.press(key);

  /** Moves the focus on to an element, as a user without a mouse does. */
  async function tabTo(target: Locator): Promise<void> {
    await target.waitFor();
    for (let tabs = 0; tabs < MAX_TABS; tabs += 1) {
      if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
      // An editor takes Tab for itself until Escape was pressed.
      if (await page.evaluate("document.activeElement?.shadowRoot != null")) await press("Escape");
      await press("Tab");
    }
    throw new Error(`Tab does not reach ${target}`);
  }

  async function go(to: string): Promise<void> {
    await press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").waitFor();
    await page.keyboard.type(to);
    await page.getByRole("option", { name: to, exact: false }).first().waitFor();
    await press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }

  async function picture(name: string): Promise<void> {
    if (!SCREENSHOTS) return;
    // Nothing that only passes by.
    await page.getByText(/is saved$/).waitFor({ state: "detached" });
    await mkdir(SCREENSHOTS, { recursive: true });
    await page.screenshot({ path: `${SCREENSHOTS}/${name}.png`, animations: "disabled", caret: "initial" });
  }

  test("[MGMT] [BLD] [WMGMT] release a tool, call it by key, add an endpoint and find why its delivery failed, by keyboard alone", async () => {
    await page.getByLabel("Email").waitFor();
    await page.keyboard.type(ADMIN.email);
    await press("Tab");
    await page.keyboard.type(ADMIN.password);
    await press("Enter");

    // A tool, released and reporting to webhooks.
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    await go("Tools");
    await page.getByRole("heading", { name: "Tools", level: 1 }).waitFor();
    await press("c");
    await page.getByRole("dialog", { name: "Create tool" }).waitFor();
    await page.keyboard.type("order_status");
    await press("Enter");
    await page.getByRole("heading", { name: "order_status", level: 1 }).waitFor();
    for (const flag of ["Released for API keys", "Reports to webhooks"]) {
      await tabTo(page.getByRole("checkbox", { name: flag }));
      await press("Space");
    }
    await press("Control+s");
    const exposure = page.getByRole("dialog", { name: "Open order_status to callers outside?" });
    await exposure.getByText(/No key lists order_status yet/).waitFor();
    await tabTo(exposure.getByRole("button", { name: "Save and open it" }));
    await press("Enter");
    await page.getByText("Version 1 is saved").waitFor();
    await picture("tool");

    // A key for it.
    await go("API keys");
    await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
    await press("c");
    await page.getByRole("dialog", { name: "Create key" }).waitFor();
    await page.keyboard.type("Acme");
    await tabTo(page.getByRole("checkbox", { name: "order_status" }));
    await press("Space");
    await picture("create-key");
    await press("Enter");
    const created = page.getByRole("dialog", { name: "Key created" });
    const key = await created.getByLabel("Secret").inputValue();
    await tabTo(created.getByRole("checkbox", { name: "I have stored it" }));
    await press("Space");
    await press("Escape");
    await created.waitFor({ state: "detached" });

    // An endpoint for what it reports.
    await go("Endpoints");
    await page.getByRole("heading", { name: "Endpoints", level: 1 }).waitFor();
    await press("c");
    const adding = page.getByRole("dialog", { name: "Add endpoint" });
    await adding.waitFor();
    await page.keyboard.type(`${rig.toolgate.receiver.url}/orders`);
    await tabTo(adding.getByRole("checkbox", { name: "tool.completed" }));
    await press("Space");
    await picture("add-endpoint");
    await tabTo(adding.getByRole("button", { name: "Add endpoint" }));
    await press("Enter");
    const added = page.getByRole("dialog", { name: "Endpoint added" });
    await tabTo(added.getByRole("checkbox", { name: "I have stored it" }));
    await press("Space");
    await press("Escape");
    await added.waitFor({ state: "detached" });

    // A call with the key, from the tool's own page.
    await go("order_status");
    await page.getByRole("heading", { name: "order_status", level: 1 }).waitFor();
    await tabTo(page.getByRole("link", { name: "API", exact: true }));
    await press("Enter");
    await tabTo(page.getByLabel("API key", { exact: true }));
    await page.keyboard.type(key);
    await press("Enter");
    await page
      .getByRole("region", { name: /Response/ })
      .getByText(/^200\b/)
      .first()
      .waitFor();
    await picture("try-out");

    // Why did the delivery of its event fail?
    await go("Deliveries");
    await page.getByRole("row", { name: /tool\.completed/ }).waitFor();
    await press("j");
    await press("Enter");
    const sentence = page.getByRole("complementary").getByText(/Your server answered 500/);
    await sentence.waitFor();
    await page.getByText("no such table: orders").waitFor();
    await picture("delivery");
    expect(await sentence.innerText()).toMatch(/Attempt 1 of 6/);
    expect(rig.problems).toEqual([]);
  });
});
