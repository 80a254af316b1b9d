import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { expectAccessible, expectToFit } from "../accessibility.ts";
import { type ConsoleRig, chromium, startConsole } from "../console-rig.ts";
import { callHook, createHook, type HookAccess } from "./hook-calls.ts";

if (!chromium) test.skip("not run: Chromium is not on this machine", () => {});

const HOSTILE = `<img src=x onerror="document.title='run'"><script>document.title='run'</script>`;
const ECHO = {
  inbound_hook: true,
  parameters: { type: "object", properties: { text: { type: "string" } } },
  handler: "export default ({ text }) => ({ text });",
};

describe.skipIf(!chromium)("the hook log in the console", () => {
  let rig: ConsoleRig;
  let echo: HookAccess & { id: string };

  beforeAll(async () => {
    rig = await startConsole();
    await rig.toolgate.saveTool("echo", ECHO);
    echo = await createHook(rig, { name: "Echo", tool: "echo" });
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());
  afterEach(async () => {
    expect(rig.problems.splice(0)).toEqual([]);
  });

  test("[WMGMT-1] [WMGMT-10] [IN-12] [IN-13] a failed call says why, is processed again after a question, and is followed to its end", async () => {
    const parameters = { type: "object", properties: { n: { type: "integer" } } };
    const save = (handler: string) => rig.toolgate.saveTool("order", { inbound_hook: true, parameters, handler });
    await save('export default () => { throw new Error("no stock"); };');
    const hook = await createHook(rig, {
      name: "Orders",
      tool: "order",
      arguments: { mapping: { pointers: { n: "/n" } } },
    });
    const { deliveryId } = await callHook(rig, hook, '{"n":3}', { headers: { "x-service-delivery": "call-1" } });
    const page = await rig.open(`/webhooks/calls?open=${deliveryId}`);
    const panel = page.getByRole("complementary", { name: "Orders" });
    await panel.getByRole("status").getByText("the tool order failed after").waitFor();
    expect(await panel.getByRole("status").innerText()).toContain("no stock");
    expect(await panel.getByRole("region", { name: "Body" }).innerText()).toBe('{\n  "n": 3\n}');
    expect(await panel.getByText("call-1").count()).toBeGreaterThan(0);
    await panel.getByText("/n", { exact: true }).waitFor();

    await save("export default ({ n }) => ({ double: 2 * n });");
    const again = panel.getByRole("button", { name: "Process again" });
    await again.click();
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await again.click();
    await dialog.getByRole("button", { name: "Process again" }).click();
    await panel.getByRole("status").getByText("the tool order succeeded after").waitFor();
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
    expect(execution).toMatchObject({ tool: "order" });
    await page.context().close();
  });

  test("[WMGMT] [IN-26] a refused call is listed with its reason, and how far the sender's clock is off", async () => {
    const hook = await createHook(rig, { name: "Refusing", tool: "echo" });
    await callHook(rig, { ...hook, secret: "another secret" }, "{}");
    const unixTime = Math.floor(Date.now() / 1000) - 4_000;
    await callHook(rig, hook, "{}", { unixTime });
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
    // The URL leads another admin to the same call.
    const other = await rig.open(page.url().split("/manage")[1] ?? "", { user: await rig.addUser("manager") });
    await other.getByRole("complementary", { name: "Refusing" }).getByText("Set the sender's clock").waitFor();
    for (const opened of [page, other]) await opened.context().close();
  });

  test("[WMGMT] nothing that a sender wrote becomes part of the page", async () => {
    await rig.toolgate.saveTool("hostile", {
      ...ECHO,
      handler: "export default ({ text }) => { throw new Error(text); };",
    });
    const hook = await createHook(rig, { name: HOSTILE, tool: "hostile" });
    const body = JSON.stringify({ text: HOSTILE, [HOSTILE]: HOSTILE });
    const { deliveryId } = await callHook(rig, hook, body, { headers: { "x-service-delivery": HOSTILE } });
    const form = `text=${encodeURIComponent(HOSTILE)}`;
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const asForm = await callHook(rig, hook, form, { headers });
    for (const open of [deliveryId, asForm.deliveryId]) {
      const page = await rig.open(`/webhooks/calls?open=${open}`);
      const panel = page.getByRole("complementary");
      await panel.getByText("the tool hostile failed after").waitFor();
      expect(await panel.getByRole("status").innerText()).toContain("<img src=x");
      expect(await page.locator("img, main script").count()).toBe(0);
      expect(await page.title()).toBe("Hook log · Toolgate");
      await page.context().close();
    }
    const page = await rig.open(`/webhooks/hooks?open=${hook.id}`);
    await page.getByRole("button", { name: "Arguments", exact: true }).click();
    await page.getByRole("region", { name: "The target would get" }).waitFor();
    expect(await page.locator("img, main script").count()).toBe(0);
    await page.context().close();
  });

  test("[WMGMT] the log is narrowed by hook, status, ids and time, and the URL keeps it", async () => {
    const other = await createHook(rig, { name: "Other", tool: "echo" });
    await callHook(rig, echo, '{"text":"a"}', { headers: { "x-service-delivery": "id-a" } });
    await callHook(rig, other, '{"text":7}', { headers: { "x-service-delivery": "id-b" } });
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
    for (const [field, time] of [
      ["To", "2020-01-01T00:00"],
      ["From", "2099-01-01T00:00"],
    ] as const) {
      await page.getByLabel(field, { exact: true }).fill(time);
      await page.keyboard.press("Enter");
      await page.getByText("No match").waitFor();
      await page.getByRole("button", { name: "Clear the filters" }).click();
      await rows.filter({ hasText: "Echo" }).waitFor();
    }
    await page.context().close();
  });

  test("[WMGMT] a large body is cut on the page and whole in the download", async () => {
    const body = JSON.stringify({ text: "x".repeat(150_000), last: "the end" });
    const { deliveryId } = await callHook(rig, echo, body);
    const page = await rig.open(`/webhooks/calls?open=${deliveryId}`);
    const panel = page.getByRole("complementary");
    await panel.getByText("the first 100,000 are shown").first().waitFor();
    expect((await panel.getByRole("region", { name: "Body" }).innerText()).length).toBeLessThanOrEqual(100_000);
    const started = page.waitForEvent("download");
    await panel.getByRole("button", { name: "Download" }).first().click();
    const chunks = [];
    for await (const chunk of await (await started).createReadStream()) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe(body);
    await page.context().close();
  });

  test("[WMGMT] everybody can use the log, its panels and the question", async () => {
    const { deliveryId } = await callHook(rig, echo, '{"text":8}');
    await callHook(rig, { ...echo, secret: "another secret" }, "{}");
    const page = await rig.open(`/webhooks/calls?open=${deliveryId}`);
    await page.getByText("the tool echo was not run").waitFor();
    await page.getByRole("button", { name: "Process again" }).click();
    await page.getByRole("dialog").waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Refused" }).click();
    await page.getByRole("row", { name: /Echo/ }).click();
    await page.getByText("with 401").waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 700 });
    await expectToFit(page);
    await page.context().close();
  });
});
