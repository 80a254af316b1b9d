import { eventually } from "@toolgate/testbed/eventually";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { createHook } from "../hooks/hooks.ts";
import { expectAccessible } from "./accessibility.ts";
import { describeConsole } from "./console-rig.ts";

describeConsole("the command palette of the console", (rig) => {
  const ids = { key: "", endpoint: "", hook: "", run: "", request: "" };

  beforeAll(async () => {
    const { toolgate } = rig;
    const handler = "export default () => ({ success: true });";
    await toolgate.saveTool("refund_order", { external_api: true, inbound_hook: true, handler });
    const key = await toolgate.createKey({ name: "Zurich partner", tools: ["refund_order"], limit: 100 });
    const hook = await createHook(toolgate, { name: "Orders of the shop", target: { tool: "refund_order" } });
    const endpoint = await toolgate.createEndpoint(["tool.completed"], "/billing");
    const called = await toolgate.call("refund_order", key.secret);
    const request = called.headers.get("x-request-id") ?? "";
    const run = await eventually(async () => {
      const found = await toolgate.manage<{ executions?: { id: string }[] }>(
        "tool_runner.v1.ExecutionService/ListExecutions",
        { requestId: request },
      );
      return found.executions?.[0]?.id ?? false;
    });
    await eventually(async () => {
      const found = await toolgate.manage<{ calls?: unknown[] }>("key_auth.v1.KeyService/ListKeyCalls", {
        requestId: request,
      });
      return found.calls?.length === 1;
    });
    Object.assign(ids, { key: key.id, endpoint: endpoint.id, hook: hook.id, run, request });
  });

  /** Types into the palette, walks to the option with the arrow keys alone, and opens it with Enter. */
  async function openByKeyboard(page: Page, typed: string, option: RegExp): Promise<URL> {
    await page.keyboard.press("Control+k");
    const field = page.getByRole("combobox", { name: "Find" });
    await page.locator("[role=combobox]:focus").waitFor();
    await page.keyboard.insertText(typed);
    await page.getByRole("option", { name: option }).waitFor();
    const chosen = page.getByRole("dialog").getByRole("option", { selected: true });
    for (let step = 0; step < 20 && !option.test(await chosen.innerText()); step += 1) {
      await page.keyboard.press("ArrowDown");
    }
    // Further results may come between the two readings, and move the chosen one.
    await expect
      .poll(async () => (await chosen.getAttribute("id")) === (await field.getAttribute("aria-activedescendant")))
      .toBe(true);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    return new URL(page.url());
  }

  test("[MGMT] [WMGMT] each kind of object is found by name and by id with the keyboard alone", async () => {
    const page = await rig.open("/runs");
    await page.getByRole("heading", { level: 1 }).waitFor();
    const cases: [typed: string, option: RegExp, path: string, open: string | null][] = [
      ["audit", /^Audit\s+Page$/, "/audit", null],
      ["fund_ord", /^refund_order\s+Tool$/, "/tools/refund_order", null],
      ["zurich", /^Zurich partner .*API key$/s, "/api-keys", ids.key],
      [ids.key, /^Zurich partner .*API key$/s, "/api-keys", ids.key],
      ["billing", /\/billing\s+Endpoint$/, "/webhooks", ids.endpoint],
      [ids.endpoint, /\/billing\s+Endpoint$/, "/webhooks", ids.endpoint],
      ["of the shop", /^Orders of the shop\s+Hook$/, "/webhooks/hooks", ids.hook],
      [ids.hook, /^Orders of the shop\s+Hook$/, "/webhooks/hooks", ids.hook],
      [ids.run, /^refund_order\s+Run$/, "/runs", ids.run],
    ];
    for (const [typed, option, path, open] of cases) {
      const { pathname, searchParams } = await openByKeyboard(page, typed, option);
      expect([typed, pathname, searchParams.get("open")]).toEqual([typed, `/manage${path}`, open]);
    }
  });

  test("[MGMT] Enter before anything is found opens the first result when it comes", async () => {
    const page = await rig.open("/runs");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    await page.locator("[role=combobox]:focus").waitFor();
    await page.keyboard.insertText("fund_ord");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/tools\/refund_order$/);
    await page.getByRole("dialog").waitFor({ state: "detached" });
    // What needs no question, such as the log entries of a request, comes earlier and is listed later.
    await page.keyboard.press("Control+k");
    await page.locator("[role=combobox]:focus").waitFor();
    await page.keyboard.insertText(ids.key);
    await page.keyboard.press("Enter");
    const opened = () => new URL(page.url()).searchParams.get("open");
    await expect.poll(opened).toBe(ids.key);
  });

  test("[LOG-3] [LOG-10] a pasted request id leads to its key call, runs, deliveries and hook calls", async () => {
    const page = await rig.open("/tools");
    await page.getByRole("heading", { level: 1 }).waitFor();
    const call = await openByKeyboard(page, ids.request, /^refund_order, answered 200\s+Key call$/);
    expect([call.pathname, call.searchParams.get("open")]).toEqual(["/manage/api-keys", ids.key]);
    for (const [option, path, filter] of [
      [/^Runs of this request/, "/manage/runs", "request"],
      [/^Deliveries of this request/, "/manage/webhooks/deliveries", "request"],
      [/^Hook calls of this request/, "/manage/webhooks/calls", "request_id"],
    ] as const) {
      const url = await openByKeyboard(page, ids.request, option);
      expect([url.pathname, url.searchParams.get(filter)]).toEqual([path, ids.request]);
    }
  });

  test("[MGMT-4] a member finds tools, and nothing that a member may not see", async () => {
    const member = await rig.addUser("member");
    const page = await rig.open("/tools", { user: member });
    await page.getByRole("heading", { level: 1 }).waitFor();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await page.keyboard.press("Control+k");
    const field = page.getByRole("combobox", { name: "Find" });
    await field.waitFor();
    const pages = await page.getByRole("listbox").getByRole("option").allInnerTexts();
    expect(pages.map((page) => page.replace(/\s+/, " "))).toEqual(["Tools Page", "Assistants Page", "Chats Page"]);
    await field.fill("refund");
    await page.getByRole("option", { name: /^refund_order\s+Tool$/ }).waitFor();
    await field.fill("zurich");
    await page.getByText("Nothing has this name or id.").waitFor();
    expect(asked.filter((path) => /toolgate\.(?!tool_runner\.v1\.ToolService)/.test(path))).toEqual([]);
    await expectAccessible(page);
  });
});
