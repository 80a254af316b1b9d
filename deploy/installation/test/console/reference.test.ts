import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible, expectToFit } from "./accessibility.ts";
import { describeConsole } from "./console-rig.ts";
import { codeOf, HOSTILE, ORDER, watch } from "./tools/api-tab-rig.ts";

const SEARCH_FROM = 8;
/** Made from the schema. */
const EXAMPLE = { note: "example", size: "S", amount: 5 };

const keyField = (page: Page) => page.getByLabel("API key", { exact: true });
const show = (page: Page) => page.getByRole("button", { name: "Show tools" }).click();
const toolOf = (page: Page, name: string) => page.getByRole("article", { name });
const choice = (page: Page) => page.getByRole("navigation", { name: "Tools" });

describeConsole("the API reference of a key", (rig) => {
  beforeAll(async () => {
    await rig.toolgate.saveTool("order", ORDER);
    await rig.toolgate.saveTool("writer", { ...ORDER, external_api_write: true });
    await rig.toolgate.saveTool("unlisted", ORDER);
    const hostile = { description: HOSTILE.join(" "), parameters: { type: "object", properties: { "<b>": {} } } };
    await rig.toolgate.saveTool("hostile", { ...hostile, external_api: true, handler: ORDER.handler });
  });

  const TOOLS = ["hostile", "order", "writer"];
  const open = (path = "/reference") => rig.open(path, { user: null });
  const createKey = (name: string, tools = TOOLS) => rig.toolgate.createKey({ name, tools });

  test("[OAPI-3] [OAPI-5] without a login, a pasted key shows its tools and no others, with what callers need", async () => {
    const { secret } = await createKey("Partner");
    const page = await open();
    await show(page);
    await page.getByRole("alert").getByText("Paste an API key").waitFor();
    await keyField(page).fill("svc_live_unknown");
    await show(page);
    await page.getByRole("alert").getByText("The key is not valid").waitFor();
    await keyField(page).fill(`  ${secret}\n`);
    await show(page);
    await expect.poll(() => choice(page).getByRole("link").allInnerTexts()).toEqual(TOOLS);
    await choice(page).getByRole("link", { name: "order" }).click();
    const tool = toolOf(page, "order");
    await tool.getByText("Places an order.").waitFor();
    await tool.getByText("string, at most 40 characters").waitFor();
    for (const part of ["Arguments", "Example request", "In code", "Status codes", "Example response"])
      await tool.getByRole("region", { name: part, exact: true }).waitFor();
    expect(JSON.parse(await codeOf(page, "Example request"))).toEqual({ args: EXAMPLE });
    expect(await codeOf(page, "curl")).toContain(`${rig.toolgate.baseUrl}/api/v1/tools/order`);
    expect(await page.content()).not.toContain("_api_key");
    await expectAccessible(page);
    for (const width of [360, 800, 1280, 2560]) {
      await page.setViewportSize({ width, height: 800 });
      await expectToFit(page);
    }
  });

  test("[BLD-32] [BLD-23] a call is made with the key that was pasted, and one that may write only after a warning", async () => {
    const { secret } = await createKey("Caller");
    const page = await open("/reference?tool=order");
    await keyField(page).fill(secret);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Send" }).click();
    await page
      .getByRole("region", { name: "Response", exact: true })
      .getByText(/^200\b/)
      .waitFor();
    expect(JSON.parse(await codeOf(page, "Response body"))).toEqual({ success: true, args: EXAMPLE });
    await choice(page).getByRole("link", { name: "writer" }).click();
    await toolOf(page, "writer").getByText("This tool may write.").waitFor();
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("dialog", { name: "Call writer now?" }).getByRole("button", { name: "Cancel" }).click();
  });

  test("[BLD-33] [BLD-35] the key is in the requests that it makes and nowhere else, and forgotten when the page is left", async () => {
    const { secret } = await createKey("Canary");
    const page = await open();
    const watched = watch(page);
    await keyField(page).fill(secret);
    await show(page);
    await choice(page).getByRole("link", { name: "order" }).click();
    await toolOf(page, "order").waitFor();
    expect(new URL(page.url()).search).toBe("?tool=order");
    const [sent, ...others] = await watched.requestsWith(secret);
    expect(others).toEqual([]);
    expect(sent?.url).toBe(`${rig.toolgate.baseUrl}/api/v1/openapi.json`);
    expect(sent?.headers.cookie).toBeUndefined();
    // A browser may keep the page to go back to.
    await page.evaluate('dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }))');
    await toolOf(page, "order").waitFor({ state: "detached" });
    await watched.expectNowhere(secret);
    await keyField(page).fill(secret);
    await show(page);
    await toolOf(page, "order").waitFor();
    await page.getByRole("button", { name: "Forget the key" }).click();
    await toolOf(page, "order").waitFor({ state: "detached" });
    await watched.expectNowhere(secret);
    await page.reload();
    await keyField(page).waitFor();
    expect(await keyField(page).inputValue()).toBe("");
  });

  test("[SEC] descriptions stay text; the address keeps the chosen tool and the search; a tool of another key is not shown", async () => {
    const more = Array.from({ length: SEARCH_FROM }, (_, n) => `more_${n}`);
    for (const name of more) await rig.toolgate.saveTool(name, ORDER);
    const { secret } = await createKey("Many", [...TOOLS, ...more]);
    const page = await open("/reference?tool=unlisted");
    await keyField(page).fill(secret);
    await show(page);
    await page.getByText("This key may not call the tool that the address names.").waitFor();
    expect(await page.getByRole("article").count()).toBe(0);
    await choice(page).getByRole("searchbox").fill("HOST");
    await expect.poll(() => choice(page).getByRole("link").allInnerTexts()).toEqual(["hostile"]);
    await choice(page).getByRole("link", { name: "hostile" }).click();
    await toolOf(page, "hostile").getByText("</script>").first().waitFor();
    await toolOf(page, "hostile").getByText("<b>", { exact: true }).waitFor();
    const { search } = new URL(page.url());
    await page.reload();
    await keyField(page).fill(secret);
    await show(page);
    await toolOf(page, "hostile").waitFor();
    expect([new URL(page.url()).search, await choice(page).getByRole("searchbox").inputValue()]).toEqual([
      search,
      "HOST",
    ]);
  });
});
