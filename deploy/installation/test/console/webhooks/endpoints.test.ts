import { beforeAll, expect, test } from "vitest";
import { expectAccessible, expectToFit } from "../accessibility.ts";
import { describeConsole } from "../console-rig.ts";
import { type EndpointScene, endpointScene, panelOf, rowOf } from "./endpoint-scene.ts";

describeConsole("endpoints and the event catalogue in the console", (rig) => {
  let scene: EndpointScene;

  beforeAll(async () => {
    scene = await endpointScene(rig);
    await rig.toolgate.saveTool("quiet", { external_api: true, handler: "export default () => 1;" });
  });

  test("[WMGMT-1] [WMGMT-5] [OUT-3] [OUT-4] [OUT-6] [OUT-7] an admin adds an endpoint for picked events, and its secret, shown once, verifies what it gets", async () => {
    const page = await rig.open("/webhooks");
    await page.getByText("No endpoints yet").waitFor();
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog");
    const add = dialog.getByRole("button", { name: "Add endpoint" });
    await dialog.getByLabel("URL").fill("http://example.com/");
    await add.click();
    await dialog.getByText("Choose at least one type of event.").waitFor();
    await dialog.getByRole("checkbox", { name: "tool.completed" }).check();
    // Only tools that report their completion are offered.
    await dialog.getByRole("checkbox", { name: "greet" }).check();
    expect(await dialog.getByRole("checkbox", { name: "quiet" }).count()).toBe(0);
    await dialog.getByLabel("Custom events by name").fill("order.paid\ncustom.order.sent");
    await dialog.getByLabel("Custom headers").fill("X-Api-Key: of the receiver");
    await add.click();
    await dialog.getByText("Only https").waitFor();
    await dialog.getByLabel("URL").fill(`${rig.toolgate.receiver.url}/added`);
    await add.click();
    const secret = await dialog.getByLabel("Secret").inputValue();
    await dialog.getByLabel("I have stored it").check();
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(secret.slice(6));

    await scene.complete();
    const { headers, body } = await scene.requestTo("/added");
    expect(headers).toMatchObject({ "x-service-event": "tool.completed", "x-api-key": "of the receiver" });
    const panel = panelOf(page, "/added");
    const code = await panel.getByRole("group", { name: /Verify signatures/ }).innerText();
    const { isFromToolgate } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
    const header = headers["x-service-signature"];
    expect(isFromToolgate(body, header, secret)).toBe(true);
    expect(isFromToolgate(Buffer.concat([body, Buffer.from(" ")]), header, secret)).toBe(false);
    await panel.getByText("It accepts deliveries.").waitFor();
    const id = /[0-9]+/.exec(new URL(page.url()).searchParams.get("open") ?? "")?.[0] ?? "";
    expect(await scene.endpointOf(id)).toMatchObject({
      events: ["tool.completed", "custom.order.paid", "custom.order.sent"],
      tools: ["greet"],
      headerNames: ["x-api-key"],
    });
    expect(await panel.innerText()).toMatch(/custom\.order\.paid.*x-api-key/s);
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
    await dialog.getByRole("group", { name: "Example of social.revoked" }).getByText('"social.revoked"').waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 700 });
    await expectToFit(page);
  });

  test("[OUT-10] an edit changes what was chosen, and keeps the headers", async () => {
    const { endpoint } = await scene.rpc<{ endpoint: { id: string } }>("CreateEndpoint", {
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
    await dialog.getByRole("button", { name: "Save", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    const saved = await scene.endpointOf(endpoint.id);
    expect(saved).toMatchObject({ description: "Mine", version: 2, headerNames: ["x-kept"] });
    expect([saved.events, saved.tools ?? []]).toEqual([["tool.completed", "custom.b"], []]);
  });

  test("[WMGMT-7] [OUT-8] [OUT-9] a secret is rotated only after a question, and the new one is shown once", async () => {
    const { id, secret: old } = await rig.toolgate.createEndpoint(["custom.*"], "/rotated");
    const page = await rig.open(`/webhooks?open=${id}`);
    const panel = panelOf(page, "/rotated");
    await panel.getByRole("button", { name: "Rotate secret" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("The current secret is invalid at once").waitFor();
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
  });

  test("[WMGMT-5] the list is searched and filtered, and its URL keeps both", async () => {
    const { id } = await rig.toolgate.createEndpoint(["custom.*"], "/found");
    await rig.toolgate.createEndpoint(["custom.*"], "/other");
    await scene.rpc("UpdateEndpoint", { endpointId: id, description: "Warehouse", active: false });
    const page = await rig.open("/webhooks");
    await rowOf(page, "/other").waitFor();
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
  });

  test("[EVT-7] [WMGMT] the event catalogue leads to a new endpoint for a type", async () => {
    const page = await rig.open("/webhooks/events?open=tool.completed");
    await page.getByRole("link", { name: "Add an endpoint for it" }).click();
    const dialog = page.getByRole("dialog", { name: "Add endpoint" });
    expect(await dialog.getByRole("checkbox", { name: "tool.completed" }).isChecked()).toBe(true);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await expect.poll(() => new URL(page.url()).search).toBe("");
    await page.goto(`${rig.toolgate.baseUrl}/manage/webhooks/events?open=custom.%3Cname%3E`);
    await page.getByRole("link", { name: "Add an endpoint for it" }).click();
    expect(await dialog.getByRole("checkbox", { name: "custom.*" }).isChecked()).toBe(true);
  });
});
