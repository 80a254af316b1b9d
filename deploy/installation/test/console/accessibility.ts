import AxeBuilder from "@axe-core/playwright";
import type { Page } from "playwright-core";

/** What axe finds on the page as it is now, in the light and in the dark theme. */
export async function violationsOf(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await new AxeBuilder({ page }).analyze();
    for (const { id, nodes } of violations)
      found.push(`${colorScheme}: ${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" ")}`);
  }
  return found;
}
