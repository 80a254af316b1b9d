import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { describeConsole } from "./console-rig.ts";

const KEYS = 300;
const PAGE_OF_KEYS = 50;
const MAX_ROWS = 60;
const HEAD_ROWS = 1;
const CLOCK = /^Updated (\d\d:\d\d:\d\d)/;

describeConsole("the lists of the console", (rig) => {
  beforeAll(async () => {
    const { id } = await rig.toolgate.createKey({ name: "key 0", tools: [], limit: 5 });
    await rig.toolgate.pool.query(
      `insert into key_auth.keys (id, workspace_id, name, secret_hash, prefix, tools, call_limit, created_by, created_at)
       select gen_random_uuid(), workspace_id, 'key ' || n, sha256(convert_to(id::text || n, 'UTF8')), 'svc_live_many', tools,
         call_limit, created_by, created_at + n * interval '1 millisecond'
       from key_auth.keys, generate_series(1, $2::int) n where id = $1`,
      [id, KEYS - 1],
    );
  });

  const rowOf = (page: Page, name: string) => page.getByRole("row", { name: new RegExp(`^${name} `) });
  const footerOf = (page: Page) => page.locator("footer").filter({ hasText: "Updated" });
  const isLive = (page: Page) => footerOf(page).and(page.locator("[data-live=true]")).waitFor();

  test("[MGMT-5] few rows are drawn however far the reader scrolls, and the URL leads back to the place", async () => {
    const page = await rig.open("/api-keys?order=name");
    const rows = page.getByRole("row");
    await rowOf(page, "key 0").waitFor();
    await page.getByRole("table").hover();
    const lastDrawn = async () => Number(await rows.last().getAttribute("aria-rowindex")) - HEAD_ROWS;
    for (let read = PAGE_OF_KEYS; read < KEYS; read += PAGE_OF_KEYS) {
      await page.mouse.wheel(0, 1e5);
      // The next page is there.
      await expect.poll(lastDrawn).toBeGreaterThan(read);
      expect(await rows.count()).toBeLessThanOrEqual(MAX_ROWS);
    }
    const inSight = () => page.evaluate<number>(FIRST_IN_SIGHT);
    const inUrl = () => Number(new URL(page.url()).searchParams.get("at"));
    await expect.poll(async () => (await inSight()) - inUrl()).toBe(0);
    const first = await inSight();
    expect(first).toBeGreaterThan(KEYS / 2);
    await page.reload();
    await expect.poll(inSight).toBe(first);
  });

  test("[MGMT-5] with a second page a list is paused and counts new rows, which one click shows; a search leaves the others out", async () => {
    const page = await rig.open("/api-keys");
    await isLive(page);
    await page.getByRole("table").hover();
    await page.mouse.wheel(0, 1e5);
    await rowOf(page, `key ${KEYS - 1 - PAGE_OF_KEYS}`).waitFor();
    await page.mouse.wheel(0, -1e5);
    await rowOf(page, `key ${KEYS - 1}`).waitFor();
    await footerOf(page).getByText("paused").waitFor();
    const { id } = await rig.toolgate.createKey({ name: "newest", tools: [], limit: 5 });
    await footerOf(page).getByRole("button", { name: "1 new" }).click();
    await rowOf(page, "newest").waitFor();
    await isLive(page);
    expect(await footerOf(page).innerText()).toMatch(/^Updated \d\d:\d\d:\d\d$/);
    // It follows again.
    await rig.toolgate.manage("key_auth.v1.KeyService/RevokeKey", { keyId: id });
    await rowOf(page, "newest").getByText("Revoked").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("newest");
    await expect.poll(() => page.getByRole("row").count()).toBe(2);
  });

  test("[MGMT] a list that cannot be read keeps its rows and the time of the last success, until Retry", async () => {
    const page = await rig.open("/api-keys?search=key 1");
    await rowOf(page, "key 199").waitFor();
    await page.route(/ListKeys$/, (route) => route.fulfill({ status: 503, body: "" }));
    await page.getByRole("combobox", { name: "Order" }).selectOption("name");
    const retry = page.getByRole("button", { name: "Retry" });
    await retry.waitFor();
    const clock = CLOCK.exec(await footerOf(page).innerText())?.[1];
    // Neither a poll that fails nor the time of waiting for it takes anything away.
    await page.waitForResponse(/ListKeys$/);
    expect(await retry.isVisible()).toBe(true);
    expect(await footerOf(page).innerText()).toBe(`Updated ${clock} · paused`);
    expect(await rowOf(page, "key 199").isVisible()).toBe(true);
    await page.unroute(/ListKeys$/);
    await retry.click();
    await rowOf(page, "key 1").waitFor();
    await retry.waitFor({ state: "detached" });
    await isLive(page);
    // Without a network it is the same.
    await page.context().setOffline(true);
    await footerOf(page).getByText("paused").waitFor();
    await retry.waitFor();
    await rowOf(page, "key 1").waitFor();
    await page.context().setOffline(false);
    await isLive(page);
  });

  test("[MGMT] j and k move on while a row is open, and Back closes it", async () => {
    const page = await rig.open("/api-keys?order=name&search=key 1");
    await rowOf(page, "key 1").click();
    const panel = page.getByRole("complementary", { name: "key 1" });
    await panel.waitFor();
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    for (const [key, name] of [
      ["j", "key 10"],
      ["j", "key 100"],
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
  });
});

/** The number, from 0, of the topmost row that is wholly below the list's head. */
const FIRST_IN_SIGHT = `(() => {
  const head = document.querySelector("[role=columnheader]").getBoundingClientRect().bottom;
  const rows = [...document.querySelectorAll("[role=row][aria-rowindex]")];
  const inSight = rows.filter((row) => row.getBoundingClientRect().top >= head - 1);
  return Math.min(...inSight.map((row) => row.getAttribute("aria-rowindex") - 2));
})()`;
