import type { Page, Request } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible, expectToFit } from "./accessibility.ts";
import { describeConsole } from "./console-rig.ts";
import { HOSTILE_NAME, troubledWorkspace } from "./overview-scene.ts";

const MAX_CALLS = 2;

const attention = (page: Page) => page.getByRole("region", { name: "Needs attention" });
const firstSteps = (page: Page) => page.getByRole("region", { name: "First steps" });
const hrefOf = (page: Page, fix: string) => attention(page).getByRole("link", { name: fix }).getAttribute("href");
const hoursOf = (page: Page, chart: string) => page.getByRole("list", { name: `${chart} by hour` });

describeConsole("the overview of a workspace", (rig) => {
  /** The overview with an answer that is changed on its way. */
  const openChanged = (change: (overview: Record<string, object>) => object) =>
    rig.open("/", {
      prepare: (page) =>
        page.route(/GetOverview$/, async (route) => {
          const response = await route.fetch();
          await route.fulfill({ response, json: change(await response.json()) });
        }),
    });

  test("[MGMT] a new workspace gets first steps, which tick themselves while the page is open, and are gone when all are done", async () => {
    const { toolgate } = rig;
    const page = await rig.open("/");
    await attention(page).getByText("Nothing needs attention.").waitFor();
    const done = firstSteps(page).getByText("done", { exact: true });
    await firstSteps(page).waitFor();
    expect(await done.count()).toBe(0);
    await expectAccessible(page);
    const ticks = (count: number) => expect.poll(() => done.count()).toBe(count);
    await toolgate.saveTool("greet", { external_api: true, handler: "export default () => 1;" });
    await ticks(1);
    const { secret } = await toolgate.createKey({ name: "Acme", tools: ["greet"] });
    await toolgate.call("greet", secret);
    const { id: endpointId } = await toolgate.createEndpoint(["tool.completed"], "/first");
    await ticks(4);
    await toolgate.manage("outbound_webhook.v1.EndpointService/SendTestEvent", { endpointId });
    await firstSteps(page).waitFor({ state: "detached" });
  });

  test("[MGMT-2] [MGMT-3] [MGMT-4] managers and admins see it; members are led to the tools", async () => {
    const manager = await rig.open("/", { user: await rig.addUser("manager") });
    await attention(manager).waitFor();
    const member = await rig.open("/", { user: await rig.addUser("member") });
    await member.waitForURL(`${rig.toolgate.baseUrl}/manage/tools`);
    expect(await member.getByRole("link", { name: "Overview" }).count()).toBe(0);
  });

  test("[MGMT] a part whose service does not answer is said to be missing, and the rest is there", async () => {
    const page = await openChanged(({ endpoints: _, ...rest }) => rest);
    await attention(page)
      .getByText(/^Endpoints and deliveries: not available/)
      .waitFor();
    await page.getByRole("region", { name: "Deliveries" }).getByText("Not available").waitFor();
    await hoursOf(page, "Calls").getByRole("link").first().waitFor();
    expect(await attention(page).getByText("Nothing needs attention.").count()).toBe(0);
  });

  test("[MGMT] a failed builder leads to the models, and a full list is said to have more", async () => {
    const page = await openChanged(({ chats, keys, hooks, ...rest }) => ({
      ...rest,
      chats: { ...chats, failing: [{ name: "@builder", failures: 1 }] },
      keys: { ...keys, expiring: Array.from({ length: 20 }, (_, key) => ({ id: `key-${key}`, name: `Key ${key}` })) },
      hooks: { ...hooks, failing: Array.from({ length: 19 }, (_, id) => ({ id: `${id}`, name: `Hook ${id}` })) },
    }));
    await attention(page)
      .getByText(/^@builder gave no answer/)
      .waitFor();
    await attention(page)
      .getByText(/^17\+ more keys expire/)
      .waitFor();
    await attention(page)
      .getByText(/^16 more hooks/)
      .waitFor();
    expect(await hrefOf(page, "Look at the models")).toBe("/manage/models");
  });
});

describeConsole("the overview of a workspace with everything that needs attention", (rig) => {
  beforeAll(() => troubledWorkspace(rig));

  test("[MGMT-18] [OUT-48] [MGMT] says it in sentences that lead to the fix, in at most 2 calls; names stay text", async () => {
    const calls: string[] = [];
    const count = (request: Request) => {
      if (/\/toolgate\./.test(request.url())) calls.push(request.url());
    };
    const page = await rig.open("/", { prepare: (prepared) => prepared.on("request", count) });
    await attention(page).waitFor();
    await page.waitForLoadState("networkidle");
    expect(calls.length).toBeLessThanOrEqual(MAX_CALLS);
    const sentences = await attention(page).getByRole("listitem").allInnerTexts();
    const at = String.raw`\d\d:\d\d`;
    const expected = [
      new RegExp(
        `^127.*/broken has been off since ${at}: five deliveries failed, last answer 410\\. \\d events did not reach it\\. Look at the endpoint$`,
      ),
      new RegExp(
        `^Orders has refused all 20 calls since ${at}, because their verification failed: its format or secret does not fit the sender\\.`,
      ),
      /^The token budget is used up: \d+ of 1 tokens today\./,
      new RegExp(`^support gave no answer once in the last 24 hours, last at ${at}: its model failed\\.`),
      /^withdrawn is listed by 1 key, and calls to it get 403/,
      /^<img src=x onerror="console.error\(1\)"> expires in 3 days, on /,
    ];
    expect(sentences).toEqual(expected.map((sentence) => expect.stringMatching(sentence)));
    expect(sentences.at(-1)).toContain(HOSTILE_NAME);
    await expectAccessible(page);
    for (const width of [360, 800, 1280, 2560]) {
      await page.setViewportSize({ width, height: 800 });
      await expectToFit(page);
    }
  });

  test("[MGMT] each fix leads to what it is about", async () => {
    const page = await rig.open("/");
    for (const [fix, path] of [
      ["Change the budget", "/usage"],
      ["Look at the assistant", "/assistants/support"],
    ] as const)
      expect(await hrefOf(page, fix)).toBe(`/manage${path}`);
    for (const [fix, path, shown] of [
      ["Look at the endpoint", "/webhooks", "/broken"],
      ["Look at the refused calls", "/webhooks/calls", "Orders"],
      ["Show the keys", "/api-keys", HOSTILE_NAME],
      ["Change its expiry", "/api-keys", HOSTILE_NAME],
    ] as const) {
      await attention(page).getByRole("link", { name: fix }).click();
      await page.getByRole("row").filter({ hasText: shown }).first().waitFor();
      expect(new URL(page.url()).pathname).toBe(`/manage${path}`);
      await page.goBack();
    }
  });

  test("[MGMT] each chart counts 24 hours, and an hour opens its log, filtered to that hour, also after a reload", async () => {
    const page = await rig.open("/");
    for (const [chart, sums, path, filter] of [
      ["Calls", [6], "/runs", { entry: "api_key" }],
      ["Errors", [1], "/runs", { outcome: "failed" }],
      // The endpoint may be off before it gets the last one.
      ["Deliveries", [11, 12], "/webhooks/deliveries", {}],
    ] as const) {
      const links = hoursOf(page, chart).getByRole("link");
      await links.last().waitFor();
      expect(await hoursOf(page, chart).getByRole("listitem").count()).toBe(24);
      const names = await Promise.all((await links.all()).map((link) => link.getAttribute("aria-label")));
      const counts = names.map((name) => Number(/: (\d+) /.exec(name ?? "")?.[1]));
      expect(sums).toContain(counts.reduce((sum, one) => sum + one, 0));
      await links.last().click();
      await page.waitForURL((url) => url.pathname === `/manage${path}`);
      await page.reload();
      await page.getByRole("heading", { level: 1 }).waitFor();
      const { from = "", to = "", ...rest } = Object.fromEntries(new URL(page.url()).searchParams);
      expect(rest).toEqual(filter);
      expect([Date.parse(from) % 3_600_000, Date.parse(to) - Date.parse(from)]).toEqual([0, 3_600_000]);
      await page.goBack();
    }
    // Answers have no log.
    await hoursOf(page, "Answers")
      .getByRole("img", { name: /: 1 answers$/ })
      .waitFor();
    expect(await hoursOf(page, "Answers").getByRole("link").count()).toBe(0);
  });
});
