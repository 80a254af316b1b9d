import type { Page, Request } from "playwright-core";
import { expect } from "vitest";
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

/** Where a page could keep a text. */
const TRACES = `(async () => JSON.stringify([location.href, document.documentElement.outerHTML,
  [...document.querySelectorAll("input, textarea")].map(({ value }) => value),
  { ...localStorage }, { ...sessionStorage }, document.cookie, history.state,
  performance.getEntries().map(({ name }) => name)]))()`;
const STORES = "Promise.all([indexedDB.databases(), caches.keys()])";

/** Watches from now on where a text is sent and said. */
export function watch(page: Page) {
  const [requests, said]: [Request[], string[]] = [[], []];
  page.on("request", (request) => requests.push(request));
  page.on("console", (message) => said.push(message.text()));
  return {
    async requestsWith(text: string) {
      const sent = requests.map(async (request) => ({
        url: request.url(),
        headers: await request.allHeaders(),
        body: request.postData(),
      }));
      return (await Promise.all(sent)).filter((each) => JSON.stringify(each).includes(text));
    },
    /** Fails when the page has said or keeps it. */
    async expectNowhere(text: string) {
      expect([await page.evaluate<string>(TRACES), ...said].join()).not.toContain(text);
      expect(await page.evaluate(STORES)).toEqual([[], []]);
    },
  };
}
