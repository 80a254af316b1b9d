import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findChromium, launchChromium } from "./browser.ts";
import { expectToFit, violationsOn } from "./console/accessibility.ts";
import { type RunningToolgate, runToolgate } from "./running-toolgate.ts";

const SITE = fileURLToPath(new URL("../../../docs/site/", import.meta.url));
const chromium = findChromium();
const skip = !chromium
  ? "Chromium is not on this machine"
  : !existsSync(`${SITE}node_modules`) && "run make docs first";
if (skip) test.skip(`not run: ${skip}`, () => {});

describe.skipIf(skip)("the documentation under /docs", () => {
  let toolgate: RunningToolgate;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];

  beforeAll(async () => {
    // Without what the test runner adds, which says that this is no build for production.
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME };
    const { stdout, stderr } = await promisify(execFile)("npm", ["run", "--silent", "build"], { cwd: SITE, env });
    expect(stdout + stderr).not.toMatch(/WARN|ERROR/);
    toolgate = await runToolgate("single", { alone: true });
    browser = await launchChromium(chromium ?? "");
    page = await browser.newPage();
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("pageerror", ({ message }) => problems.push(message));
  });
  afterAll(async () => {
    await browser?.close();
    await toolgate?.[Symbol.asyncDispose]();
  });

  test("[NFR] every link of every page leads somewhere, also to its heading", async () => {
    const start = `${toolgate.baseUrl}/docs/`;
    const pages = new Map<string, string>();
    const waiting = [start];
    for (let url = waiting.pop(); url; url = waiting.pop()) {
      if (pages.has(url)) continue;
      const response = await fetch(url);
      expect(`${response.status} ${url}`).toBe(`200 ${url}`);
      const isPage = response.headers.get("content-type")?.startsWith("text/html");
      const text = isPage ? await response.text() : "";
      pages.set(url, text);
      for (const [, target = ""] of text.matchAll(/\s(?:href|src)="([^"]+)"/g)) {
        const linked = new URL(target.replaceAll("&amp;", "&"), url);
        if (linked.href.startsWith(start)) waiting.push(linked.href.split("#", 1)[0] ?? "");
      }
    }
    expect([...pages.keys()].filter((url) => url.endsWith("/")).length).toBeGreaterThan(25);
  });

  test("pages are accessible in both themes, fit a phone, and keep their policy", async () => {
    for (const name of ["", "callers/", "operators/"]) {
      await page.goto(`${toolgate.baseUrl}/docs/${name}`);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        // A script of the theme makes what scrolls reachable by keyboard when the browser is idle.
        await expect.poll(() => violationsOn(page, ["wcag2a", "wcag2aa", "wcag22aa"])).toEqual([]);
      }
      await page.setViewportSize({ width: 360, height: 740 });
      await expectToFit(page);
      await page.setViewportSize({ width: 1280, height: 800 });
    }
    expect(problems).toEqual([]);
  });

  test("the search finds a page by its words", async () => {
    await page.goto(`${toolgate.baseUrl}/docs/`);
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByPlaceholder("Search").fill("Retry-After");
    await page
      .getByRole("dialog")
      .getByRole("link", { name: /Calling tools/ })
      .first()
      .click();
    await page.waitForURL(/\/docs\/callers\//);
    expect(problems).toEqual([]);
  });

  test("an unknown page says so", async () => {
    const response = await page.goto(`${toolgate.baseUrl}/docs/nothing/`);
    expect(response?.status()).toBe(404);
    expect((await fetch(`${toolgate.baseUrl}/docs/callers`, { redirect: "manual" })).headers.get("location")).toBe(
      "/docs/callers/",
    );
  });
});
