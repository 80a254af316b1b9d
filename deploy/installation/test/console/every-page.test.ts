import type { Page, Request } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible, expectToFit } from "./accessibility.ts";
import { describeConsole } from "./console-rig.ts";

/** Every page, with filters of its own, as its URL has them. */
const PAGES = [
  "/",
  "/reference?tool=greet",
  "/tools?search=nothing",
  "/tools/greet",
  "/tools/greet?tab=api",
  "/tools/greet?tab=versions",
  "/assistants",
  "/assistants/assistant",
  "/assistants/assistant?tab=playground",
  "/builder?tool=greet",
  "/assistants/assistant?tab=versions",
  "/models",
  "/chats",
  "/usage?days=7",
  "/runs?tool=greet",
  "/api-keys?search=a&status=active&order=name",
  "/webhooks?search=a",
  "/webhooks/deliveries?status=failed",
  "/webhooks/undelivered?types=tool.completed",
  "/webhooks/events",
  "/webhooks/hooks?search=a",
  "/webhooks/calls?kind=refused",
  "/variables",
  "/secrets",
  "/queries",
  "/sheets",
  "/members?search=a",
  "/settings",
  "/account",
  "/audit?action=key.create",
  "/components",
];
const WIDTHS = [360, 800, 1280, 2560];
const FILTERS = "[...document.querySelectorAll('main input, main select')].map(({ value }) => value)";
const MAX_RPCS = 4;
const MAX_SHIFT = 0.02;
const MEASURE_SHIFT = `window.shift = 0;
new PerformanceObserver((list) => { for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shift += value; })
  .observe({ type: "layout-shift", buffered: true });`;

describeConsole("every page of the console", (rig) => {
  beforeAll(async () => {
    await rig.toolgate.saveTool("greet", { external_api: true, handler: "export default () => 1;" });
    await rig.toolgate.createKey({ name: "Acme", tools: ["greet"], limit: 5 });
  });

  /** Until the page has what it asks for. */
  async function settled(page: Page): Promise<void> {
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForLoadState("networkidle");
  }

  test.each(PAGES)("[MGMT] [WMGMT] %s", async (path) => {
    const rpcs: string[] = [];
    const count = (request: Request) => {
      if (/\/toolgate\./.test(request.url())) rpcs.push(request.url());
    };
    const prepare = async (prepared: Page) => {
      prepared.on("request", count);
      await prepared.addInitScript(MEASURE_SHIFT);
    };
    const page = await rig.open(path, { prepare, isOwn: true });
    await settled(page);
    page.off("request", count);
    // It is read with few calls, and stands still while they are answered.
    expect(rpcs.length, rpcs.join("\n")).toBeLessThanOrEqual(MAX_RPCS);
    expect(await page.evaluate("window.shift")).toBeLessThanOrEqual(MAX_SHIFT);
    // It is accessible in both themes, and no wider than its window.
    await expectAccessible(page);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      await expectToFit(page);
    }
    // A reload and Back restore its filters.
    const shown = () => page.evaluate<string[]>(FILTERS);
    const [url, before] = [page.url(), await shown()];
    const isText = (value: string) => value === "a";
    expect(before.filter(isText)).toEqual([...new URL(url).searchParams.values()].filter(isText));
    await page.reload();
    await settled(page);
    expect([page.url(), await shown()]).toEqual([url, before]);
    await page.goto(`${rig.toolgate.baseUrl}/manage/api-keys`);
    await settled(page);
    await page.goBack();
    await settled(page);
    expect([page.url(), await shown()]).toEqual([url, before]);
  });

  test("[MGMT] [WMGMT] a tab in sight asks every 3 s for what is new, and a hidden one never", async () => {
    const page = await rig.open("/api-keys", { prepare: (prepared) => prepared.clock.install(), isOwn: true });
    await page.getByRole("row", { name: /Acme/ }).waitFor();
    let rpcs = 0;
    page.on("request", (request) => {
      if (/ListKeys$/.test(request.url())) rpcs += 1;
    });
    for (let poll = 1; poll <= 3; poll += 1) {
      const answered = page.waitForResponse(/ListKeys$/);
      await page.clock.runFor(3_100);
      await answered;
    }
    expect(rpcs).toBe(3);
    await page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "hidden" });
      window.dispatchEvent(new Event("visibilitychange"));`);
    await page.clock.runFor(60_000);
    expect(rpcs).toBe(3);
  });
});
