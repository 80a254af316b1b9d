import { readFile } from "node:fs/promises";
import { canRunSnippet, runSnippet } from "@toolgate/testbed/run-snippet";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type ConsoleRig, chromium, startConsole } from "../console-rig.ts";
import { codeOf, HOSTILE, openTab } from "./api-tab-rig.ts";

if (!chromium) test.skip("not run: Chromium is not on this machine", () => {});

const PROPERTIES = { text: { type: "string" }, list: { type: "array" }, object: { type: "object" } };
const ARGS = { text: HOSTILE.join("\n"), list: [HOSTILE, [], {}, 1.5, true, null], object: { 0: "a", "it's $x": {} } };
const SORTED = `const sorted = (value) => JSON.stringify(value, (_, part) => part && typeof part === "object" && !Array.isArray(part)
  ? Object.fromEntries(Object.entries(part).sort()) : part);`;
const COMPARE = `${SORTED}
const expected = sorted(${JSON.stringify(ARGS)});
export default ({ _api_key, ...args }) => ({ success: true, verdict: sorted(args) === expected ? "identical" : "different" });`;

const LANGUAGES = [
  ["curl", "curl", "BLD-8"],
  ["javascript", "JavaScript", "BLD-9"],
  ["python", "Python", "BLD-10"],
  ["php-guzzle", "PHP (Guzzle)", "BLD-11"],
  ["php-curl", "PHP (curl)", "BLD-12"],
] as const;
const runnable = new Set<string>();
for (const [kind] of LANGUAGES) if (await canRunSnippet(kind)) runnable.add(kind);

describe.skipIf(!chromium)("snippets of the API tab", () => {
  let rig: ConsoleRig;
  let page: Page;
  let secret: string;

  beforeAll(async () => {
    rig = await startConsole();
    const parameters = { type: "object", properties: PROPERTIES };
    await rig.toolgate.saveTool("hostile", { external_api: true, parameters, args_fixture: ARGS, handler: COMPARE });
    ({ secret } = await rig.toolgate.createKey({ name: "Acme", tools: ["hostile"] }));
    page = await openTab(rig, "hostile", { permissions: ["clipboard-read", "clipboard-write"] });
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());
  afterEach(() => expect(rig.problems.splice(0)).toEqual([]));

  const copied = async (label: string) => {
    const block = page.getByRole("group", { name: label, exact: true });
    await block.hover();
    await block.locator("..").getByRole("button").click();
    return page.evaluate<string>("navigator.clipboard.readText()");
  };

  for (const [kind, label, rule] of LANGUAGES) {
    test.skipIf(!runnable.has(kind))(
      `[${rule}] [BLD-15] the snippet for ${label}, copied from the page, makes the call with exactly these values`,
      async () => {
        await page.getByRole("tab", { name: label, exact: true }).click();
        const source = await copied(label);
        expect(source).toContain("SERVICE_API_KEY");
        expect(await runSnippet(kind, source, { SERVICE_API_KEY: secret })).toContain("identical");
        await expect(runSnippet(kind, source, { SERVICE_API_KEY: "wrong" }).then(requireSuccess)).rejects.toThrow();
      },
    );
  }

  test("[BLD-8] [BLD-9] [BLD-10] [BLD-11] [BLD-12] the arrow keys lead through all five snippets", async () => {
    await page.getByRole("tab", { name: "curl", exact: true }).click();
    for (const [, label] of LANGUAGES) {
      expect(await page.getByRole("tab", { selected: true }).innerText()).toBe(label);
      expect(await codeOf(page, label)).toContain("SERVICE_API_KEY");
      await page.keyboard.press("ArrowRight");
    }
    await page.getByRole("tab", { name: "curl", exact: true, selected: true }).waitFor();
  });

  test("[BLD-13] [BLD-14] the collection is v2.1 with an empty variable apiKey, and its request is the call", async () => {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download collection" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("hostile.postman_collection.json");
    const text = await readFile(await download.path(), "utf8");
    const collection = JSON.parse(text);
    expect(collection.info.schema).toContain("/v2.1.0/");
    expect(collection.variable).toEqual([{ key: "apiKey", value: "", type: "string" }]);
    // As an API client sends it, with the variable filled in.
    const { auth, item } = JSON.parse(text.replaceAll("{{apiKey}}", secret));
    const [{ request }] = item;
    const response = await fetch(request.url.raw, {
      method: request.method,
      headers: { ...headersOf(request.header), authorization: `Bearer ${auth.bearer[0].value}` },
      body: request.body.raw,
    });
    expect(await response.json()).toEqual({ success: true, verdict: "identical" });
  });

  test("[BLD-21] [BLD-22] the OpenAPI description is linked, and the curl call fetches it", async () => {
    const url = `${rig.toolgate.baseUrl}/api/v1/openapi.json`;
    expect(await page.getByRole("link", { name: url }).getAttribute("href")).toBe(url);
    const source = await copied("curl for the OpenAPI description");
    const { paths } = JSON.parse(await runSnippet("curl", source, { SERVICE_API_KEY: secret }));
    expect(Object.keys(paths)).toEqual(["/api/v1/tools/hostile"]);
    // The example there is the one in the tab.
    const { example } = paths["/api/v1/tools/hostile"].post.requestBody.content["application/json"];
    expect(example).toEqual(JSON.parse(await codeOf(page, "Example request")));
  });
});

/** curl succeeds with any response: what it prints says whether the call did. */
function requireSuccess(printed: string): void {
  if (!printed.includes("identical")) throw new Error(printed);
}

function headersOf(list: { key: string; value: string }[]): Record<string, string> {
  return Object.fromEntries(list.map(({ key, value }) => [key, value]));
}
