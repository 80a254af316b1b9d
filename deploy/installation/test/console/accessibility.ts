import AxeBuilder from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect } from "vitest";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Fails with what axe finds on the page as it is now, in the light and in the dark theme. */
export async function expectAccessible(page: Page): Promise<void> {
  const found: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    // No page has frames, and without them this takes half the time.
    const axe = new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ["violations"] });
    // Only the colours differ between the themes.
    const { violations } = await (colorScheme === "light"
      ? axe.withTags(RULES)
      : axe.withRules("color-contrast")
    ).analyze();
    for (const { id, nodes } of violations)
      found.push(`${colorScheme}: ${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" ")}`);
  }
  expect(found).toEqual([]);
}

/** Fails when the whole page can be scrolled sideways. */
export async function expectToFit(page: Page): Promise<void> {
  expect(await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
}
