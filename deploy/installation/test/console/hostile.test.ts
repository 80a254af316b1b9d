import { expect, test } from "vitest";
import { expectToFit } from "./accessibility.ts";
import { describeConsole } from "./console-rig.ts";

const NAMES = [
  '<img src=x onerror="console.error(1)"><script>console.error(2)</script>',
  "from right to left: שלום (Acme) 12",
  `"'\`{{name}}\${name}`,
  "🧑‍🚀 Ω ख ש",
  "x".repeat(200),
];

/** What Chromium calls it. */
const ZONES: Readonly<Record<string, string>> = { "Asia/Kolkata": "Asia/Calcutta" };

describeConsole("what users write", (rig) => {
  test("[MGMT-5] names stay text, and the page keeps its shape", async () => {
    const ids = new Map<string, string>();
    for (const name of NAMES) ids.set(name, (await rig.toolgate.createKey({ name, tools: [], limit: 5 })).id);
    const page = await rig.open("/api-keys");
    const panel = page.getByRole("complementary");
    for (const [name, id] of ids) {
      const row = page.locator(`[data-row="${id}"]`);
      await row.click();
      await expect.poll(() => panel.getByRole("heading", { level: 2 }).textContent()).toBe(name);
      expect(await row.textContent()).toBe(name);
      await page.getByRole("button", { name: "Edit", exact: true }).click();
      expect(await page.getByRole("dialog").getByLabel("Name").inputValue()).toBe(name);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await expectToFit(page);
    }
  });

  test.each([
    ["Asia/Kolkata", "29 Mar 2026, 06:00:00"],
    ["America/St_Johns", "28 Mar 2026, 22:00:00"],
  ])("[MGMT-20] in %s a time is shown as %s, with UTC in its tooltip", async (timezoneId, shown) => {
    const page = await rig.open("/components", { timezoneId });
    const time = page.getByRole("time").first();
    await time.waitFor();
    expect(await time.textContent()).toBe(shown);
    expect(await time.getAttribute("title")).toBe(
      `${shown} (${ZONES[timezoneId] ?? timezoneId})\n2026-03-29 00:30:00 UTC`,
    );
  });
});
