import axe, { type Result, type RunOptions } from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const COLOURS = "color-contrast";

/** What axe finds on the page as it is now. */
export async function violationsOn(page: Page, rules: string[]): Promise<Result[]> {
  if (await page.evaluate<boolean>("!window.axe")) await page.evaluate(axe.source);
  const options: RunOptions = { runOnly: rules, resultTypes: ["violations"], preload: false };
  return page.evaluate<Result[]>(`axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`);
}

/** Fails with what axe finds on the page as it is now, in the light and in the dark theme. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  const light = await violationsOn(page, TAGS);
  // Only the colours differ between the themes.
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  const dark = await violationsOn(page, [COLOURS]);
  const inWords = (theme: string, found: readonly Result[]) =>
    found.map(({ id, nodes }) => [theme, id, ...nodes.map(({ html }) => html.slice(0, 200))]);
  expect([...inWords("light", light), ...inWords("dark", dark)]).toEqual([]);
}

/** Fails when the whole page can be scrolled sideways. */
export async function expectToFit(page: Page): Promise<void> {
  expect(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
}
