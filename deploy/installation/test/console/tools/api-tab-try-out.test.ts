import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible } from "../accessibility.ts";
import { describeConsole } from "../console-rig.ts";
import { codeOf, ORDER, openTab, watch } from "./api-tab-rig.ts";

describeConsole("trying a tool out in the API tab", (rig) => {
  beforeAll(async () => {
    await rig.toolgate.saveTool("order", ORDER);
    await rig.toolgate.saveTool("writer", { ...ORDER, external_api_write: true });
  });

  const callsOf = async (keyId: string) => {
    const { calls = [] } = await rig.toolgate.manage<{ calls?: { tool: string; status: number }[] }>(
      "key_auth.v1.KeyService/ListKeyCalls",
      { keyId },
    );
    return calls.map(({ tool, status }) => `${tool} ${status}`);
  };
  const send = (page: Page) => page.getByRole("button", { name: "Send" }).click();
  const keyField = (page: Page) => page.getByLabel("API key", { exact: true });
  const response = (page: Page, status: number) =>
    page.getByRole("region", { name: "Response", exact: true }).filter({ hasText: String(status) });

  test("[BLD-32] [BLD-36] [BLD-37] a pasted key makes a real call: logged, counted, and refused beyond the limit", async () => {
    const { id, secret } = await rig.toolgate.createKey({ name: "Acme", tools: ["order"], limit: 2 });
    const page = await openTab(rig, "order");
    await send(page);
    await page.getByRole("alert").getByText("Paste an API key").waitFor();
    expect(await keyField(page).getAttribute("type")).toBe("password");
    expect(await keyField(page).getAttribute("autocomplete")).toBe("off");
    await keyField(page).fill(`  ${secret}\n`);
    await page.getByLabel("Arguments (JSON)").fill("[1]");
    await send(page);
    await page.getByRole("alert").getByText("The arguments must be a JSON object.").waitFor();
    await page.getByLabel("Arguments (JSON)").fill('{"amount": 8, "undeclared": 1}');
    await send(page);
    const first = response(page, 200);
    await first.waitFor();
    expect(await first.innerText()).toMatch(/after \d+ ms\s+1 of 2 calls are left.*X-RateLimit-Remaining\s+1/s);
    expect(JSON.parse(await codeOf(page, "Response body"))).toEqual({ success: true, args: { amount: 8 } });
    await page.getByLabel("Arguments (JSON)").fill('{"amount": 1}');
    await send(page);
    await response(page, 400).getByText("INVALID_PARAMETERS").waitFor();
    const made = ["order 200", "order 400"];
    // Once more, unless the minute ends in between.
    while (!made.includes("order 429") && made.length < 6) {
      await send(page);
      const tried = page.getByRole("region", { name: "Response", exact: true });
      made.push(`order ${/^\d+/.exec(await tried.getByRole("status").innerText())}`);
    }
    await response(page, 429).getByText("Retry-After").waitFor();
    await expect.poll(() => callsOf(id)).toEqual(made.toReversed());
    await expectAccessible(page);
  });

  test("[BLD-33] [BLD-34] [BLD-35] the key is in that one request only, and gone when the tab is left", async () => {
    const { secret } = await rig.toolgate.createKey({ name: "Gone", tools: ["order"] });
    const page = await openTab(rig, "order");
    const watched = watch(page);
    await keyField(page).fill(secret);
    await send(page);
    await response(page, 200).waitFor();
    const left = page.getByRole("link", { name: "Definition" });
    await left.click();
    await keyField(page).waitFor({ state: "detached" });

    await watched.expectNowhere(secret);
    const [sent, ...others] = await watched.requestsWith(secret);
    expect(others).toEqual([]);
    expect(sent).toMatchObject({
      url: `${rig.toolgate.baseUrl}/api/v1/tools/order`,
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(sent?.headers.cookie).toBeUndefined();
    expect(JSON.stringify([sent?.url, sent?.body])).not.toContain(secret);

    await page.goBack();
    await keyField(page).waitFor();
    expect(await keyField(page).inputValue()).toBe("");
  });

  test("[BLD-35] the key is gone when the page is left, and when another tool is opened in its place", async () => {
    const page = await openTab(rig, "order");
    await keyField(page).fill("svc_live_pasted");
    await page.evaluate('dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }))');
    expect(await keyField(page).inputValue()).toBe("");
    await page.goto(`${rig.toolgate.baseUrl}/manage/tools/writer?tab=api`);
    await keyField(page).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "order", exact: true }).waitFor();
    await keyField(page).fill("svc_live_pasted");
    // Both tools are loaded by now: nothing is unmounted for want of data.
    await page.goForward();
    await page.getByRole("heading", { name: "writer", exact: true }).waitFor();
    expect(await keyField(page).inputValue()).toBe("");
  });

  test("[BLD-23] [BLD-36] a tool that may write is called only after a warning", async () => {
    const { id, secret } = await rig.toolgate.createKey({ name: "Writer", tools: ["writer"] });
    const page = await openTab(rig, "writer");
    await keyField(page).fill(secret);
    await keyField(page).press("Enter");
    const warning = page.getByRole("dialog", { name: "Call writer now?" });
    expect(await warning.innerText()).toContain("This tool may write. The call is real");
    await expectAccessible(page);
    await warning.getByRole("button", { name: "Cancel" }).click();
    await warning.waitFor({ state: "detached" });
    expect(await response(page, 200).count()).toBe(0);
    await send(page);
    await warning.getByRole("button", { name: "Call it" }).click();
    await response(page, 200).waitFor();
    await warning.waitFor({ state: "detached" });
    await expect.poll(() => callsOf(id)).toEqual(["writer 200"]);
  });
});
