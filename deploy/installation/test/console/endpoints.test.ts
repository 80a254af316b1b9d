import { eventually } from "@toolgate/testbed/eventually";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { type ConsoleRig, chromium, startConsole } from "./console-rig.ts";

if (!chromium) test.skip("not run: Chromium is not on this machine", () => {});

describe.skipIf(!chromium)("endpoints in the console", () => {
  let rig: ConsoleRig;
  let key: string;

  beforeAll(async () => {
    rig = await startConsole();
    const handler = "export default () => ({ success: true });";
    await rig.toolgate.saveTool("greet", { external_api: true, webhook_event: true, handler });
    await rig.toolgate.saveTool("quiet", { external_api: true, handler });
    key = (await rig.toolgate.createKey({ name: "Caller", tools: ["greet"], limit: 1000 })).secret;
  });
  beforeEach(() => rig.toolgate.receiver.behave(() => ({ status: 200 })));
  afterAll(() => rig?.[Symbol.asyncDispose]());
  afterEach(async () => {
    expect(rig.problems.splice(0)).toEqual([]);
  });

  const rpc = <Response>(name: string, request: Record<string, unknown>) =>
    rig.toolgate.manage<Response>(`outbound_webhook.v1.${name}`, request);
  const endpointOf = async (endpointId: string) =>
    (await rpc<{ endpoint: Record<string, unknown> }>("EndpointService/GetEndpoint", { endpointId })).endpoint;
  const requestsTo = (path: string) => rig.toolgate.receiver.requests.filter((request) => request.path === path);
  const panelOf = (page: Page, path: string) => page.getByRole("complementary", { name: new RegExp(`${path}$`) });
  const rowOf = (page: Page, path: string) => page.getByRole("row", { name: new RegExp(path) });

  test("[WMGMT-1] [WMGMT-5] [OUT-3] [OUT-4] [OUT-6] [OUT-7] an admin adds an endpoint for picked events, and its secret, shown once, verifies what it gets", async () => {
    const page = await rig.open("/webhooks");
    await page.getByText("No endpoints yet").waitFor();
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("URL").fill("http://example.com/");
    await dialog.getByRole("button", { name: "Add endpoint" }).click();
    await dialog.getByText("Choose at least one type of event.").waitFor();
    await dialog.getByRole("checkbox", { name: "tool.completed" }).check();
    // Only tools that report their completion are offered.
    await dialog.getByRole("checkbox", { name: "greet" }).check();
    expect(await dialog.getByRole("checkbox", { name: "quiet" }).count()).toBe(0);
    await dialog.getByLabel("Custom events by name").fill("order.paid\ncustom.order.sent");
    await dialog.getByLabel("Custom headers").fill("X-Api-Key: of the receiver");
    await dialog.getByRole("button", { name: "Add endpoint" }).click();
    await dialog.getByText("Only https").waitFor();
    await dialog.getByLabel("URL").fill(`${rig.toolgate.receiver.url}/added`);
    await dialog.getByRole("button", { name: "Add endpoint" }).click();
    const secret = await dialog.getByLabel("Secret").inputValue();
    await dialog.getByLabel("I have stored it").check();
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(secret.slice(6));
    await rig.toolgate.call("greet", key);
    const request = await eventually(() => requestsTo("/added")[0]);
    expect(request?.headers).toMatchObject({ "x-service-event": "tool.completed", "x-api-key": "of the receiver" });
    const panel = panelOf(page, "/added");
    const code = await panel.getByRole("region", { name: /Verify signatures/ }).innerText();
    const { isFromToolgate } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
    const header = request?.headers["x-service-signature"];
    expect(isFromToolgate(request?.body, header, secret)).toBe(true);
    expect(isFromToolgate(Buffer.concat([request?.body ?? Buffer.alloc(0), Buffer.from(" ")]), header, secret)).toBe(
      false,
    );
    await panel.getByText("It accepts deliveries.").waitFor();
    const id = new URL(page.url()).searchParams.get("open") ?? "";
    expect(await endpointOf(id)).toMatchObject({
      events: ["tool.completed", "custom.order.paid", "custom.order.sent"],
      tools: ["greet"],
      headerNames: ["x-api-key"],
    });
    expect(await panel.innerText()).toMatch(/custom\.order\.paid.*x-api-key/s);
    await page.context().close();
  });

  test("[EVT-7] [OUT-5] the picker shows when each type is sent, its example and its schema", async () => {
    const page = await rig.open("/webhooks");
    await page.getByRole("button", { name: "Add endpoint" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("checkbox", { name: "custom.*" }).waitFor();
    expect(await dialog.getByRole("checkbox").count()).toBe(10);
    expect(await dialog.getByRole("checkbox", { name: "webhook.test" }).count()).toBe(0);
    await dialog.getByText("A scheduled task failed. Nothing in this installation sends it yet.").waitFor();
    await dialog.getByRole("button", { name: "Schema and example of social.revoked" }).click();
    const example = await dialog.getByRole("region", { name: "Example of social.revoked" }).innerText();
    expect(JSON.parse(example)).toMatchObject({ type: "social.revoked", data: { reason: expect.any(String) } });
    const schema = await dialog.getByRole("region", { name: "JSON Schema of social.revoked" }).innerText();
    expect(JSON.parse(schema)).toMatchObject({ title: "social.revoked", type: "object" });
    await expectAccessible(page);
    await page.context().close();
  });

  test("[OUT-10] an edit changes what was chosen, keeps the headers, and does not overwrite another admin's", async () => {
    const { endpoint } = await rpc<{ endpoint: { id: string } }>("EndpointService/CreateEndpoint", {
      url: `${rig.toolgate.receiver.url}/edited`,
      events: ["tool.completed", "custom.a"],
      tools: ["gone"],
      headers: { values: { "x-kept": "1" } },
    });
    const page = await rig.open(`/webhooks?open=${endpoint.id}`);
    await panelOf(page, "/edited").getByRole("button", { name: "Edit" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("checkbox", { name: "gone" }).uncheck();
    await dialog.getByLabel("Custom events by name").fill("b");
    await dialog.getByLabel("Description").fill("Mine");
    await rpc("EndpointService/UpdateEndpoint", { endpointId: endpoint.id, description: "Another admin's" });
    await dialog.getByRole("button", { name: "Save", exact: true }).click();
    await dialog.getByText(`${rig.toolgate.account.email} saved version 2`).waitFor();
    expect(await endpointOf(endpoint.id)).toMatchObject({ description: "Another admin's", tools: ["gone"] });
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Save over it" }).click();
    await dialog.waitFor({ state: "detached" });
    const saved = await endpointOf(endpoint.id);
    expect(saved).toMatchObject({ description: "Mine", version: 3, headerNames: ["x-kept"] });
    expect([saved.events, saved.tools ?? []]).toEqual([["tool.completed", "custom.b"], []]);
    await page.context().close();
  });

  test("[WMGMT-7] [OUT-8] [OUT-9] a secret is rotated only after a question, and the new one is shown once", async () => {
    const { id, secret: old } = await rig.toolgate.createEndpoint(["custom.*"], "/rotated");
    const page = await rig.open(`/webhooks?open=${id}`);
    const panel = panelOf(page, "/rotated");
    await panel.getByRole("button", { name: "Rotate secret" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("The current secret is invalid at once").waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await panel.getByRole("button", { name: "Rotate secret" }).click();
    await dialog.getByRole("button", { name: "Rotate secret" }).click();
    const secret = await dialog.getByLabel("Secret").inputValue();
    expect(secret).toMatch(/^whsec_/);
    expect(secret).not.toBe(old);
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("I have stored it").check();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(secret.slice(6));
    await page.context().close();
  });

  test("[WMGMT-8] [OUT-54] a test event of a chosen type goes to the one endpoint, and leads to its delivery", async () => {
    const { id } = await rig.toolgate.createEndpoint(["tool.completed"], "/tested");
    const page = await rig.open(`/webhooks?open=${id}`);
    await panelOf(page, "/tested").getByRole("button", { name: "Send test event" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Event").selectOption("custom.<name>");
    await dialog.getByLabel("Name of the custom event").fill("UPPER");
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByText("Not in the catalogue").waitFor();
    await expectAccessible(page);
    await dialog.getByLabel("Name of the custom event").fill("order.paid");
    await dialog.getByRole("button", { name: "Send" }).click();
    await page.waitForURL(/\/webhooks\/deliveries\?/);
    const request = await eventually(() => requestsTo("/tested")[0]);
    expect(request?.headers["x-service-event"]).toBe("custom.order.paid");
    expect(new URL(page.url()).searchParams.get("open")).toBe(request?.headers["x-service-delivery"]);
    await page.context().close();
  });

  test("[WMGMT-11] [OUT-48] [OUT-50] five failures deactivate it in sight, and re-activating offers to replay what was missed", async () => {
    rig.toolgate.receiver.behave(({ path }) => ({ status: path === "/broken" ? 410 : 200 }));
    const { id } = await rig.toolgate.createEndpoint(["tool.completed"], "/broken");
    const page = await rig.open(`/webhooks?open=${id}`);
    const panel = panelOf(page, "/broken");
    await panel.getByText("Nothing has been sent to it yet.").waitFor();
    for (let call = 0; call < 2; call += 1) await rig.toolgate.call("greet", key);
    await rowOf(page, "/broken").getByText("2 of 5 failures").waitFor();
    await panel.getByText("your server answered 410").waitFor();
    for (let call = 0; call < 3; call += 1) await rig.toolgate.call("greet", key);
    await rowOf(page, "/broken").getByText("Deactivated after 5 failures").waitFor();
    await rig.toolgate.call("greet", key);
    await panel.getByText("6 events have not reached it.").waitFor();
    await expectAccessible(page);
    await panel.getByRole("button", { name: "Re-activate" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Re-activate" }).click();
    const replay = panel.getByRole("link", { name: "Replay what was missed" });
    await replay.waitFor();
    const target = new URL((await replay.getAttribute("href")) ?? "", page.url());
    expect([target.pathname, target.searchParams.get("endpoint")]).toEqual(["/manage/webhooks/undelivered", id]);
    expect(await endpointOf(id)).toMatchObject({ active: true });
    await expectAccessible(page);
    await page.context().close();
  });

  test("[OUT] an endpoint is deactivated and deleted only after a question that says what it costs", async () => {
    const { id } = await rig.toolgate.createEndpoint(["custom.*"], "/left");
    const page = await rig.open(`/webhooks?open=${id}`);
    const panel = panelOf(page, "/left");
    const dialog = page.getByRole("dialog");
    await panel.getByRole("button", { name: "Deactivate" }).click();
    await dialog.getByText("outstanding retries are cancelled").waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect(await endpointOf(id)).toMatchObject({ active: true });
    await panel.getByRole("button", { name: "Deactivate" }).click();
    await dialog.getByRole("button", { name: "Deactivate" }).click();
    await panel.getByText("It is deactivated.").waitFor();
    await panel.getByRole("button", { name: "Delete" }).click();
    await dialog.getByText("its secret is erased").waitFor();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await panel.waitFor({ state: "detached" });
    await rowOf(page, "/left").waitFor({ state: "detached" });
    await page.context().close();
  });

  test("[WMGMT-5] the list is searched and filtered, and its URL keeps both", async () => {
    const { id } = await rig.toolgate.createEndpoint(["custom.*"], "/found");
    await rig.toolgate.createEndpoint(["custom.*"], "/other");
    await rpc("EndpointService/UpdateEndpoint", { endpointId: id, description: "Warehouse", active: false });
    const page = await rig.open("/webhooks");
    await rowOf(page, "/other").waitFor();
    await expectAccessible(page);
    await page.keyboard.press("/");
    await page.keyboard.type("warehouse");
    await rowOf(page, "/other").waitFor({ state: "detached" });
    await rowOf(page, "/found").waitFor();
    await page.getByLabel("Status").selectOption("failing");
    await page.getByText("No match").waitFor();
    await page.reload();
    await page.getByText("No match").waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await rowOf(page, "/other").waitFor();
    await page.context().close();
  });

  test("[OUT-30] the check of a signature says which mistake explains it", async () => {
    const { id } = await rig.toolgate.createEndpoint(["tool.completed"], "/checked");
    await rig.toolgate.call("greet", key);
    const request = await eventually(() => requestsTo("/checked")[0]);
    const headers = Object.entries(request?.headers ?? {}).map(([name, value]) => `${name}: ${value}`);
    const body = request?.body.toString() ?? "";
    const page = await rig.open(`/webhooks?open=${id}`);
    const panel = panelOf(page, "/checked");
    await panel.getByLabel("Headers", { exact: true }).fill(headers.join("\n"));
    await panel.getByLabel("Body", { exact: true }).fill(body);
    await panel.getByRole("button", { name: "Check" }).click();
    await panel.getByText("The signature matches this body").waitFor();
    await panel.getByText("The time is within the tolerance").waitFor();
    await panel.getByLabel("Body", { exact: true }).fill(JSON.stringify(JSON.parse(body), null, 1));
    await panel.getByRole("button", { name: "Check" }).click();
    await panel.getByText("was parsed as JSON and serialised again").waitFor();
    await panel.getByLabel("Headers", { exact: true }).fill("X-Service-Signature: t=1");
    await panel.getByRole("button", { name: "Check" }).click();
    await panel.getByText("The signature header is malformed").waitFor();
    await expectAccessible(page);
    await page.context().close();
  });
});
