import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { expectAccessible, expectToFit } from "../accessibility.ts";
import { type ConsoleRig, chromium, startConsole } from "../console-rig.ts";
import { callHook, createHook } from "./hook-calls.ts";

if (!chromium) test.skip("not run: Chromium is not on this machine", () => {});

const ORDER = {
  inbound_hook: true,
  parameters: {
    type: "object",
    properties: { city: { type: "string" }, amount: { type: "number" } },
    required: ["amount"],
  },
  handler: "export default ({ city, amount }) => ({ city, amount });",
};

describe.skipIf(!chromium)("the mapping of a hook in the console", () => {
  let rig: ConsoleRig;

  beforeAll(async () => {
    rig = await startConsole();
    await rig.toolgate.saveTool("order", ORDER);
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());
  afterEach(async () => {
    expect(rig.problems.splice(0)).toEqual([]);
  });

  test("[IN-7] [IN-40] the mapping editor shows at once what a received or a pasted body becomes", async () => {
    const hook = await createHook(rig, { name: "Mapped", tool: "order" });
    await callHook(rig, hook, '{"amount":5,"to":{"city":"Bern"}}');
    const page = await rig.open(`/webhooks/hooks?open=${hook.id}`);
    await page.getByRole("complementary").getByRole("button", { name: "Arguments", exact: true }).click();
    const dialog = page.getByRole("dialog");
    const result = dialog.getByRole("region", { name: "The target would get" });
    await result.getByText('"amount": 5').waitFor();
    await dialog.getByLabel("The target gets").selectOption("Chosen places of the body");
    const amount = dialog.getByRole("group", { name: "amount" });
    await amount.getByLabel("Place in the body").fill("/to/city");
    await amount.getByText("must be of type number").waitFor();
    await dialog.getByRole("button", { name: "Add an argument" }).click();
    await dialog.getByRole("group", { name: "Argument" }).getByLabel("Argument").selectOption("city");
    const city = dialog.getByRole("group", { name: "city" }).getByLabel("Place in the body");
    await city.fill("to/city");
    await dialog.getByRole("alert").getByText("needs a JSON Pointer").waitFor();
    await city.fill("/to/city");
    await amount.getByLabel("Place in the body").fill("/amount");
    await result.getByText('"city": "Bern"').waitFor();
    await dialog.getByLabel("Dry run").selectOption("A pasted body");
    const pasted = dialog.getByLabel("Paste a body");
    await pasted.fill('{"amount":12345678901234567890}');
    await dialog.getByText("a number has more digits than JSON numbers keep").waitFor();
    await pasted.fill('{"amount":6,"to":{"city":"Thun"}}');
    await result.getByText('"city": "Thun"').waitFor();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    const { hook: saved } = await rig.toolgate.manage<{ hook: object }>("inbound_hook.v1.HookService/GetHook", {
      hookId: hook.id,
    });
    expect(saved).toMatchObject({ arguments: { mapping: { pointers: { amount: "/amount", city: "/to/city" } } } });
    await page.context().close();
  });

  test("[WMGMT] everybody can use the list, the panel and each dialog of hooks", async () => {
    const hook = await createHook(rig, {
      name: "For all",
      tool: "order",
      arguments: { mapping: { pointers: { amount: "/amount" } } },
    });
    await callHook(rig, hook, '{"amount":"x"}');
    await callHook(rig, { ...hook, secret: "another secret" }, "{}");
    const page = await rig.open(`/webhooks/hooks?open=${hook.id}`);
    const panel = page.getByRole("complementary", { name: "For all" });
    const dialog = page.getByRole("dialog");
    await panel.getByText("Refused calls of the last day").waitFor();
    await expectAccessible(page);
    await panel.getByRole("button", { name: "Arguments", exact: true }).click();
    await dialog.getByText("must be of type number").waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 700 });
    await expectToFit(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Create hook" }).click();
    await dialog.getByRole("button", { name: /^Stripe/ }).click();
    await dialog.getByLabel("Runs").selectOption("tool order");
    await dialog.getByLabel("The target gets").selectOption("Chosen places of the body");
    await expectAccessible(page);
    await page.context().close();
  });
});
