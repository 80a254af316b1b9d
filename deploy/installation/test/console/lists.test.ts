import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type ConsoleRig, chromium, startConsole } from "./console-rig.ts";

if (!chromium) test.skip("not run: Chromium is not on this machine", () => {});

const KEYS = 62;
const CLOCK = /^Updated (\d\d:\d\d:\d\d)/;

describe.skipIf(!chromium)("the lists of the console", () => {
  let rig: ConsoleRig;

  beforeAll(async () => {
    rig = await startConsole();
    for (let n = 0; n < KEYS; n += 1) await rig.toolgate.createKey({ name: `key ${n}`, tools: [], limit: 5 });
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());
  afterEach(async () => {
    expect(rig.problems.splice(0)).toEqual([]);
  });

  const rowOf = (page: Page, name: string) => page.getByRole("row", { name: new RegExp(`^${name} `) });
  const footerOf = (page: Page) => page.locator("footer").filter({ hasText: "Updated" });

  test("[MGMT-5] with a second page a list is paused and counts new rows, which one click shows", async () => {
    const page = await rig.open("/api-keys");
    await footerOf(page).and(page.locator("[data-live=true]")).waitFor();
    await page.getByRole("table").hover();
    await page.mouse.wheel(0, 1e5);
    await page.locator(`[role=table][aria-rowcount="${KEYS + 1}"]`).waitFor();
    await page.mouse.wheel(0, -1e5);
    await rowOf(page, `key ${KEYS - 1}`).waitFor();
    await footerOf(page).getByText("paused").waitFor();
    const { id } = await rig.toolgate.createKey({ name: "newest", tools: [], limit: 5 });
    await footerOf(page).getByRole("button", { name: "1 new" }).click();
    await rowOf(page, "newest").waitFor();
    await footerOf(page).and(page.locator("[data-live=true]")).waitFor();
    expect(await footerOf(page).innerText()).toMatch(/^Updated \d\d:\d\d:\d\d$/);
    // It follows again.
    await rig.toolgate.manage("key_auth.v1.KeyService/RevokeKey", { keyId: id });
    await rowOf(page, "newest").getByText("Revoked").waitFor();
    await page.context().close();
  });

  test("[MGMT] a list that cannot be read keeps its rows and the time of the last success, until Retry", async () => {
    const page = await rig.open("/api-keys");
    await rowOf(page, `key ${KEYS - 1}`).waitFor();
    await page.route(/ListKeys$/, (route) => route.fulfill({ status: 503, body: "" }));
    await page.getByRole("combobox", { name: "Order" }).selectOption("name");
    const retry = page.getByRole("button", { name: "Retry" });
    await retry.waitFor();
    const clock = CLOCK.exec(await footerOf(page).innerText())?.[1];
    // Neither a poll that fails nor the time of waiting for it takes anything away.
    await page.waitForResponse(/ListKeys$/);
    expect(await retry.isVisible()).toBe(true);
    expect(await footerOf(page).innerText()).toBe(`Updated ${clock} · paused`);
    expect(await rowOf(page, `key ${KEYS - 1}`).isVisible()).toBe(true);
    await page.unroute(/ListKeys$/);
    await retry.click();
    await rowOf(page, "key 0").waitFor();
    await retry.waitFor({ state: "detached" });
    await footerOf(page).and(page.locator("[data-live=true]")).waitFor();
    // Without a network it is the same.
    await page.context().setOffline(true);
    await footerOf(page).getByText("paused").waitFor();
    await retry.waitFor();
    await rowOf(page, "key 0").waitFor();
    await page.context().setOffline(false);
    await footerOf(page).and(page.locator("[data-live=true]")).waitFor();
    await page.context().close();
  });

  test("[MGMT] j and k move on while a row is open, and Back closes it", async () => {
    const page = await rig.open("/api-keys?order=name&search=key 1");
    await rowOf(page, "key 1").click();
    const panel = page.getByRole("complementary", { name: "key 1" });
    await panel.waitFor();
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    for (const [key, name] of [
      ["j", "key 10"],
      ["j", "key 11"],
      ["k", "key 10"],
    ] as const) {
      await page.keyboard.press(key);
      expect(await focused()).toBe(name);
    }
    await page.keyboard.press("Enter");
    await page.getByRole("complementary", { name: "key 10" }).waitFor();
    await page.goBack();
    await page.getByRole("complementary").waitFor({ state: "detached" });
    expect(new URL(page.url()).search).toMatch(/^\?order=name&search=key(\+|%20)1$/);
    await page.context().close();
  });
});
