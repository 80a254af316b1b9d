import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type ConsoleRig, chromium, startConsole } from "./console-rig.ts";

if (!chromium) test.skip("not run: Chromium is not on this machine", () => {});

const NAMES = {
  markup: '<img src=x onerror="console.error(1)"><script>console.error(2)</script>',
  "a name from right to left": "שלום (Acme) 12",
  "quotes and braces": `"'\`{{name}}\${name}`,
  "emoji and other scripts": "🧑‍🚀 Ω ख ש",
  "a very long word": "x".repeat(200),
};

/** What Chromium calls it. */
const ZONES: Readonly<Record<string, string>> = { "Asia/Kolkata": "Asia/Calcutta" };

describe.skipIf(!chromium)("what users write", () => {
  let rig: ConsoleRig;

  beforeAll(async () => {
    rig = await startConsole();
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());
  afterEach(async () => {
    expect(rig.problems.splice(0)).toEqual([]);
  });

  test.each(Object.entries(NAMES))("[MGMT-5] %s stays text, and the page keeps its shape", async (_, name) => {
    const { id } = await rig.toolgate.createKey({ name, tools: [], limit: 5 });
    const page = await rig.open(`/api-keys?open=${id}`);
    const panel = page.getByRole("complementary");
    await panel.getByRole("heading", { name: "Last 50 calls" }).waitFor();
    expect(await panel.getByRole("heading", { level: 2 }).textContent()).toBe(name);
    expect(await page.locator(`[data-row="${id}"]`).textContent()).toBe(name);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    expect(await page.getByRole("dialog").getByLabel("Name").inputValue()).toBe(name);
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    }
    await page.context().close();
  });

  test.each([
    ["Asia/Kolkata", "29 Mar 2026, 06:00:00"],
    ["America/St_Johns", "28 Mar 2026, 22:00:00"],
    ["Europe/Berlin", "29 Mar 2026, 01:30:00"],
  ])("[MGMT-20] in %s a time is shown as %s, with UTC in its tooltip", async (timezoneId, shown) => {
    const page = await rig.open("/components", { timezoneId });
    const time = page.getByRole("time").first();
    await time.waitFor();
    expect(await time.textContent()).toBe(shown);
    expect(await time.getAttribute("title")).toBe(
      `${shown} (${ZONES[timezoneId] ?? timezoneId})\n2026-03-29 00:30:00 UTC`,
    );
    await page.context().close();
  });
});
