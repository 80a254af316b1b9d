import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { expectAccessible } from "../accessibility.ts";
import { type ConsoleRig, chromium, startConsole } from "../console-rig.ts";

if (!chromium) test.skip("not run: Chromium is not on this machine", () => {});

describe.skipIf(!chromium)("the event catalogue in the console", () => {
  let rig: ConsoleRig;

  beforeAll(async () => {
    rig = await startConsole();
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());
  afterEach(async () => {
    expect(rig.problems.splice(0)).toEqual([]);
  });

  test("[EVT-7] it lists every type and whether anything sends it, with an example and the JSON Schema of the open one", async () => {
    const { eventTypes } = await rig.toolgate.manage<{ eventTypes: { type: string }[] }>(
      "outbound_webhook.v1.EventService/ListEventTypes",
      {},
    );
    const page = await rig.open("/webhooks/events");
    await page.getByRole("button", { name: "tool.completed" }).waitFor();
    const rows = page.getByRole("row").filter({ has: page.getByRole("cell") });
    expect(await rows.getByRole("button").allInnerTexts()).toEqual(eventTypes.map(({ type }) => type));
    expect(await page.getByRole("row", { name: /social\.revoked/ }).innerText()).toContain("Nothing sends it yet");
    expect(await page.getByRole("row", { name: /tool\.completed/ }).innerText()).toContain("Sent");
    await page.getByRole("button", { name: "inbox.message.received" }).click();
    const panel = page.getByRole("complementary", { name: "inbox.message.received" });
    const example = JSON.parse(await panel.getByRole("group", { name: /^Example/ }).innerText());
    expect(example).toMatchObject({ type: "inbox.message.received", data: { message: expect.any(Object) } });
    const schema = JSON.parse(await panel.getByRole("group", { name: /^JSON Schema/ }).innerText());
    expect(schema.properties.type).toEqual({ const: "inbox.message.received" });
    const published = await page.request.get(
      new URL((await panel.getByRole("link", { name: /\.json$/ }).getAttribute("href")) ?? "", page.url()).href,
    );
    expect(await published.json()).toMatchObject(schema);
    await expectAccessible(page);
    await page.context().close();
  });

  test("[EVT-7] [WMGMT-4] the search finds types by name and description; members have no access", async () => {
    const page = await rig.open("/webhooks/events?search=SNOOZED");
    await page.getByRole("button", { name: "inbox.thread.status_changed" }).waitFor();
    expect(await page.getByRole("row").count()).toBe(2);
    await page.getByRole("searchbox").fill("nothing like it");
    await page.getByText("No match").waitFor();
    await page.context().close();
    const refused = await rig.open("/webhooks/events", { user: await rig.addUser("member") });
    await refused.getByText("No access").waitFor();
    await refused.context().close();
  });
});
