import { eventually } from "@toolgate/testbed/eventually";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible, expectToFit } from "../accessibility.ts";
import { describeConsole } from "../console-rig.ts";
import { type EndpointScene, endpointScene, panelOf, rowOf } from "./endpoint-scene.ts";

describeConsole("what an endpoint gets, in the console", (rig) => {
  let scene: EndpointScene;

  beforeAll(async () => {
    scene = await endpointScene(rig);
    rig.toolgate.receiver.behave(({ path }) => ({ status: path === "/broken" ? 410 : 200 }));
  });

  test("[WMGMT-8] [OUT-54] [OUT-55] a test event of a chosen type goes to the one endpoint, and is followed to its end on screen", async () => {
    const { id } = await rig.toolgate.createEndpoint(["tool.completed"], "/tested");
    await rig.toolgate.createEndpoint(["custom.*"], "/untested");
    let answer = () => {};
    const after = new Promise<void>((resolve) => {
      answer = resolve;
    });
    rig.toolgate.receiver.behave(() => ({ status: 503, after }));
    const page = await rig.open(`/webhooks?open=${id}`);
    await panelOf(page, "/tested").getByRole("button", { name: "Send test event" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Event").selectOption("custom.<name>");
    await dialog.getByLabel("Name of the custom event").fill("UPPER");
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByText("Not in the catalogue").waitFor();
    await dialog.getByLabel("Name of the custom event").fill("order.paid");
    await dialog.getByRole("button", { name: "Send" }).click();
    await page.waitForURL(/\/webhooks\/deliveries\?/);
    const { headers } = await scene.requestTo("/tested");
    expect(headers["x-service-event"]).toBe("custom.order.paid");
    expect(new URL(page.url()).searchParams.get("open")).toBe(headers["x-service-delivery"]);
    const panel = page.getByRole("complementary", { name: "custom.order.paid" });
    await panel.getByText("is under way").waitFor();
    answer();
    await panel.getByText("Your server answered 503").first().waitFor();
    expect(rig.toolgate.receiver.requests.some(({ path }) => path === "/untested")).toBe(false);
  });

  test("[WMGMT-11] [OUT-48] [OUT-50] five failures deactivate it in sight, and re-activating offers to replay what was missed", async () => {
    rig.toolgate.receiver.behave(({ path }) => ({ status: path === "/broken" ? 410 : 200 }));
    const { id } = await rig.toolgate.createEndpoint(["tool.completed"], "/broken");
    await scene.complete(2);
    await eventually(async () => (await scene.endpointOf(id)).failuresInARow === 2);
    const page = await rig.open(`/webhooks?open=${id}`);
    const panel = panelOf(page, "/broken");
    await rowOf(page, "/broken").getByText("2 of 5 failures").waitFor();
    await panel.getByText("your server answered 410").waitFor();
    await scene.complete(3);
    await rowOf(page, "/broken").getByText("Deactivated after 5 failures").waitFor();
    await scene.complete();
    await panel.getByText("6 events have not reached it.").waitFor();
    await expectAccessible(page);
    await panel.getByRole("button", { name: "Re-activate" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Re-activate" }).click();
    const replay = panel.getByRole("link", { name: "Replay what was missed" });
    await replay.waitFor();
    expect(await scene.endpointOf(id)).toMatchObject({ active: true });
    await page.setViewportSize({ width: 360, height: 700 });
    await expectToFit(page);
    await replay.click();
    await page.waitForURL((url) => /\/undelivered$/.test(url.pathname) && url.search.includes(id));
  });

  test("[OUT] an endpoint is deactivated and deleted only after a question that says what it costs", async () => {
    const { id } = await rig.toolgate.createEndpoint(["custom.*"], "/left");
    const page = await rig.open(`/webhooks?open=${id}`);
    const panel = panelOf(page, "/left");
    const dialog = page.getByRole("dialog");
    await panel.getByText("Nothing has been sent to it yet.").waitFor();
    await panel.getByRole("button", { name: "Deactivate" }).click();
    await dialog.getByText("outstanding retries are cancelled").waitFor();
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    expect(await scene.endpointOf(id)).toMatchObject({ active: true });
    await panel.getByRole("button", { name: "Deactivate" }).click();
    await dialog.getByRole("button", { name: "Deactivate" }).click();
    await panel.getByText("It is deactivated.").waitFor();
    await panel.getByRole("button", { name: "Delete" }).click();
    await dialog.getByText("its secret is erased").waitFor();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await panel.waitFor({ state: "detached" });
    await rowOf(page, "/left").waitFor({ state: "detached" });
  });
});
