import type { Page } from "playwright-core";
import type { ConsoleRig } from "../console-rig.ts";

export const ECHO = "export default ({ _api_key, ...args }) => ({ success: true, args });";

/** Texts that mean something in shells and programming languages. */
export const HOSTILE = [
  "it's \"quoted\" `id` $HOME $(id) $$ %s \\n \\' {{apiKey}}",
  "two\nlines\r\n\tand a tab",
  "😀 né 字 \u2028 <?php ?> </script>",
];

export const ORDER = {
  external_api: true,
  description: "For the model.",
  external_api_description: "Places an order.",
  parameters: {
    type: "object",
    required: ["amount"],
    properties: {
      note: { type: "string", maxLength: 40, description: "Shown to the cook." },
      size: { enum: ["S", "M"] },
      amount: { type: "integer", minimum: 5 },
      _api_key: { type: "object" },
    },
  },
  handler: ECHO,
};

/** Opens the tab, once it is complete. */
export async function openTab(rig: ConsoleRig, tool: string, options?: Parameters<ConsoleRig["open"]>[1]) {
  const page = await rig.open(`/tools/${tool}?tab=api`, options);
  await page.getByRole("heading", { name: /Endpoint|Not released/ }).waitFor();
  return page;
}

/** The text of a block of code. */
export async function codeOf(page: Page, label: string): Promise<string> {
  return page.getByRole("group", { name: label, exact: true }).innerText();
}
