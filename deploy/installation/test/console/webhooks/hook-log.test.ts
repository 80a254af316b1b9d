import { sign } from "@toolgate/webhook-signing/sign";
import { beforeAll, expect, test } from "vitest";
import { callHook, createHook, type TestHook } from "../../hooks/hooks.ts";
import { expectAccessible, expectToFit } from "../accessibility.ts";
import { describeConsole } from "../console-rig.ts";
import { ORDER } from "./order.ts";

const ECHO = {
  inbound_hook: true,
  parameters: { type: "object", properties: { text: { type: "string" } } },
  handler: "export default ({ text }) => ({ text });",
};

describeConsole("the hook log and the mapping of a hook, in the console", (rig) => {
  let echo: TestHook;

  beforeAll(async () => {
    await rig.toolgate.saveTool("echo", ECHO);
    await rig.toolgate.saveTool("order", ORDER);
    echo = await createHook(rig.toolgate, { name: "Echo", target: { tool: "echo" } });
  });

  test("[WMGMT-1] [WMGMT-10] [IN-12] [IN-13] a failed call says why, is processed again after a question, and is followed to its end", async () => {
    const parameters = { type: "object", properties: { n: { type: "integer" } } };
    const save = (handler: string) => rig.toolgate.saveTool("stock", { inbound_hook: true, parameters, handler });
    await save('export default () => { throw new Error("no stock"); };');
    const hook = await createHook(rig.toolgate, {
      name: "Orders",
      target: { tool: "stock" },
      arguments: { mapping: { pointers: { n: "/n" } } },
    });
    const { body } = await callHook(rig.toolgate, hook, '{"n":3}', { headers: { "x-service-delivery": "call-1" } });
    const page = await rig.open(`/webhooks/calls?open=${body.delivery_id}`);
    const panel = page.getByRole("complementary", { name: "Orders" });
    await panel.getByRole("status").getByText("the tool stock failed after").waitFor();
    expect(await panel.getByRole("status").innerText()).toContain("no stock");
    expect(await panel.getByRole("region", { name: "Body" }).innerText()).toBe('{\n  "n": 3\n}');
    expect(await panel.getByText("call-1").count()).toBeGreaterThan(0);
    await panel.getByText("/n", { exact: true }).waitFor();

    await save("export default ({ n }) => ({ double: 2 * n });");
    const again = panel.getByRole("button", { name: "Process again" });
    await again.click();
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await again.click();
    await dialog.getByRole("button", { name: "Process again" }).click();
    await panel.getByRole("status").getByText("the tool stock succeeded after").waitFor();
    const second = panel.getByRole("article", { name: "Run 2" });
    expect(await second.innerText()).toContain(rig.toolgate.account.email);
    expect(await second.getByRole("region", { name: "Result of run 2" }).innerText()).toContain('"double": 6');
    expect(await panel.getByRole("article", { name: "Run 1" }).innerText()).toContain("no stock");
    const href = await second.getByRole("link", { name: "Execution" }).getAttribute("href");
    const executionId = new URL(href ?? "", rig.toolgate.baseUrl).searchParams.get("open") ?? "";
    const { execution } = await rig.toolgate.manage<{ execution: object }>(
      "tool_runner.v1.ExecutionService/GetExecution",
      { executionId },
    );
    expect(execution).toMatchObject({ tool: "stock" });
  });

  test("[WMGMT] [IN-26] a refused call is listed with its reason, and how far the sender's clock is off", async () => {
    const hook = await createHook(rig.toolgate, { name: "Refusing", target: { tool: "echo" } });
    await callHook(rig.toolgate, { ...hook, secret: "another secret" }, "{}");
    const old = sign(hook.secret, Math.floor(Date.now() / 1000) - 4_000, "{}");
    await callHook(rig.toolgate, hook, "{}", { headers: { "x-service-signature": old } });
    const page = await rig.open(`/webhooks/calls?hook=${hook.id}`);
    await page.getByText("No match").waitFor();
    await page.getByRole("button", { name: "Refused" }).click();
    const rows = page.getByRole("row").filter({ hasText: "Refusing" });
    await rows.nth(1).waitFor();
    expect(await rows.nth(1).innerText()).toContain("the signature or token is not right");
    await rows.nth(0).click();
    const panel = page.getByRole("complementary", { name: "Refusing" });
    await panel
      .getByText(/with 401: the time of the signature is too far from our clock: 4,00\d s in the past/)
      .waitFor();
    await panel.getByText("Set the sender's clock").waitFor();
    await expectAccessible(page);
    // The URL leads another admin to the same call.
    const other = await rig.open(page.url().split("/manage")[1] ?? "", { user: await rig.addUser("manager") });
    await other.getByRole("complementary", { name: "Refusing" }).getByText("Set the sender's clock").waitFor();
  });

  test("[WMGMT] the log is narrowed by hook, status, ids and time, and the URL keeps it", async () => {
    const other = await createHook(rig.toolgate, { name: "Other", target: { tool: "echo" } });
    await callHook(rig.toolgate, echo, '{"text":"a"}', { headers: { "x-service-delivery": "id-a" } });
    await callHook(rig.toolgate, other, '{"text":7}', { headers: { "x-service-delivery": "id-b" } });
    const page = await rig.open(`/webhooks/calls?hook=${other.id}`);
    const rows = page.getByRole("row").filter({ hasText: "id-" });
    await rows.filter({ hasText: "Failed" }).waitFor();
    expect(await rows.count()).toBe(1);
    await page.getByLabel("Status", { exact: true }).selectOption("Succeeded");
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await rows.nth(1).waitFor();
    await page.getByLabel("External id").fill("id-a");
    await page.keyboard.press("Enter");
    await rows.filter({ hasText: "id-b" }).waitFor({ state: "detached" });
    expect(new URL(page.url()).searchParams.get("external_id")).toBe("id-a");
    await page.reload();
    await rows.filter({ hasText: "Echo" }).waitFor();
    expect(await rows.count()).toBe(1);
  });

  test("[IN-7] [IN-40] the mapping editor shows at once what a received or a pasted body becomes", async () => {
    const hook = await createHook(rig.toolgate, { name: "Mapped", target: { tool: "order" } });
    await callHook(rig.toolgate, hook, '{"amount":5,"to":{"city":"Bern"}}');
    const page = await rig.open(`/webhooks/hooks?open=${hook.id}`);
    await page.getByRole("complementary").getByRole("button", { name: "Arguments", exact: true }).click();
    const dialog = page.getByRole("dialog");
    const result = dialog.getByRole("region", { name: "The target would get" });
    await result.getByText('"amount": 5').waitFor();
    await dialog.getByLabel("The target gets").selectOption("Chosen places of the body");
    const amount = dialog.getByRole("group", { name: "amount" });
    await amount.getByLabel("Place in the body").fill("/to/city");
    await amount.getByText("must be of type number").waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 700 });
    await expectToFit(page);
    await page.setViewportSize({ width: 1280, height: 800 });
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
  });
});
