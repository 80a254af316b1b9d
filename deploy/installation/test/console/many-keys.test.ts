import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ConsoleRig, chromium, startConsole } from "./console-rig.ts";

if (!chromium) test.skip("not run: Chromium is not on this machine", () => {});

const KEYS = 10_000;
const MAX_ROWS = 60;

describe.skipIf(!chromium)("a workspace with 10,000 keys", () => {
  let rig: ConsoleRig;

  beforeAll(async () => {
    rig = await startConsole();
    const { id } = await rig.toolgate.createKey({ name: "key 0", tools: [], limit: 5 });
    await rig.toolgate.pool.query(
      `insert into key_auth.keys (id, workspace_id, name, secret_hash, prefix, tools, call_limit, created_by)
       select gen_random_uuid(), workspace_id, 'key ' || n, sha256(convert_to(id::text || n, 'UTF8')), 'svc_live_many', tools,
         call_limit, created_by
       from key_auth.keys, generate_series(1, $2::int) n where id = $1`,
      [id, KEYS - 1],
    );
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());

  test("[MGMT-5] few rows are drawn however far the reader scrolls, and the URL leads back to the place", async () => {
    const page = await rig.open("/api-keys?order=name");
    const rows = page.getByRole("row");
    await page.getByRole("row", { name: /^key 0 / }).waitFor();
    const list = page.getByRole("table").locator("..");
    for (let screen = 0; screen < 20; screen += 1) {
      const last = await rows.last().innerText();
      await list.evaluate("(element) => element.scrollBy(0, 1e5)");
      await expect.poll(() => rows.last().innerText(), { timeout: 10_000 }).not.toBe(last);
      expect(await rows.count()).toBeLessThanOrEqual(MAX_ROWS);
    }
    await expect.poll(() => new URL(page.url()).searchParams.get("at"), { timeout: 10_000 }).not.toBeNull();
    const first = await page.evaluate<string>(FIRST_IN_SIGHT);
    await page.reload();
    await expect.poll(() => page.evaluate<string>(FIRST_IN_SIGHT), { timeout: 20_000 }).toBe(first);
    await page.context().close();
  });

  test("[MGMT-5] a search shows its rows without the others", async () => {
    const page = await rig.open("/api-keys");
    await page.getByRole("row").nth(2).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("key 9999");
    await page.getByRole("row", { name: /key 9999/ }).waitFor();
    await expect.poll(() => page.getByRole("row").count()).toBe(2);
    await page.context().close();
  });
});

/** The name in the topmost row that is wholly below the list's head. */
const FIRST_IN_SIGHT = `(() => {
  const head = document.querySelector("[role=columnheader]").getBoundingClientRect().bottom;
  const rows = [...document.querySelectorAll("[data-row]")].filter((row) => row.getBoundingClientRect().top >= head - 1);
  rows.sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
  return rows[0]?.textContent ?? "";
})()`;
