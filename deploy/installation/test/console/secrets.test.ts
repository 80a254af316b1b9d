import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type ConsoleRig, chromium, startConsole } from "./console-rig.ts";

if (!chromium) test.skip("not run: Chromium is not on this machine", () => {});

const KEPT = `JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }, history.state,
  document.documentElement.outerHTML, [...document.querySelectorAll("input, textarea")].map(({ value }) => value)])`;

describe.skipIf(!chromium)("secrets that are shown once", () => {
  let rig: ConsoleRig;

  beforeAll(async () => {
    rig = await startConsole();
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());
  afterEach(async () => {
    expect(rig.problems.splice(0)).toEqual([]);
  });

  /** Everything that JavaScript can still reach, after a collection. */
  async function heapOf(page: Page): Promise<string> {
    const session = await page.context().newCDPSession(page);
    const chunks: string[] = [];
    session.on("HeapProfiler.addHeapSnapshotChunk", ({ chunk }) => chunks.push(chunk));
    await session.send("HeapProfiler.collectGarbage");
    await session.send("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
    return chunks.join("");
  }

  test("[KEY-15] [MGMT] a key's secret is on no other place of the page, and nowhere once its dialog is closed", async () => {
    const page = await rig.open("/api-keys");
    const spoken: string[] = [];
    page.on("console", (message) => spoken.push(message.text()));
    await page.getByRole("button", { name: "Create key" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Acme");
    await dialog.getByRole("button", { name: "Create key" }).click();
    const secret = await dialog.getByLabel("Secret").inputValue();
    expect(secret).toMatch(/^svc_live_/);
    const variable = await dialog.getByRole("button", { name: /Copy as export/ });
    await variable.click();
    // It says so only once it is there to be pasted, on plain http too.
    await dialog.getByText("Copied").waitFor();
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Close" }).click();
    const search = page.getByRole("searchbox");
    await search.focus();
    await page.keyboard.press("Control+V");
    expect(await search.inputValue()).toBe(`export SERVICE_API_KEY=${secret}`);
    await search.fill("");
    await expect.poll(() => new URL(page.url()).search).toBe("");
    const kept = await page.evaluate<string>(KEPT);
    const tail = secret.slice(20);
    expect(kept).not.toContain(tail);
    expect(spoken.join("\n")).not.toContain(tail);
    const heap = await heapOf(page);
    expect(heap).toContain("Acme");
    expect(heap).not.toContain(tail);
    await page.goto(`${rig.toolgate.baseUrl}/.well-known/jwks.json`);
    await page.goBack();
    await page.getByRole("table").waitFor();
    expect(await page.evaluate<string>(KEPT)).not.toContain(tail);
    await page.context().close();
  });
});
