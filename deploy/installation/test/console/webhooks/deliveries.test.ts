import { readFile } from "node:fs/promises";
import { eventually } from "@toolgate/testbed/eventually";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible } from "../accessibility.ts";
import { describeConsole } from "../console-rig.ts";
import { type Subscribe, webhookScene } from "./webhook-scene.ts";

/** Notes whether the page ever says that there are new rows. */
const WATCH_FOR_NEW = `window.saidNew = false;
  const look = () => (saidNew ||= [...document.querySelectorAll("button")].some((button) => / new$/.test(button.innerText)));
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
  look();`;
const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

describeConsole("deliveries in the console", (rig) => {
  let subscribe: Subscribe;

  beforeAll(async () => {
    subscribe = await webhookScene(rig);
  });

  test("[OUT-11] [OUT-41] [OUT-43] a delivery that waits for its retry is told in words, and what the receiver wrote stays text", async () => {
    const broken = await subscribe("broken");
    broken.behave(() => ({ status: 500, body: HOSTILE }));
    await broken.happen();
    const [delivery] = await broken.attempted(1);
    const page = await rig.open(`/webhooks/deliveries?open=${delivery?.id}`);
    const panel = page.getByRole("complementary", { name: "tool.completed" });
    await panel.getByText(/^Your server answered 500 after \d.*s\. Attempt 1 of 6; next in \d+ (s|min)\.$/).waitFor();
    const body = panel.getByRole("region", { name: "Response body, attempt 1" });
    expect(await body.innerText()).toBe(HOSTILE);
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.title()).toBe("Deliveries · Toolgate");
    const attempts = await panel.getByRole("listitem").allInnerTexts();
    expect(attempts.join("\n")).toMatch(/Attempt 1.*500.*TLS \d.*First byte \d.*Attempt 2.*Waiting/s);
    const row = page.getByRole("row", { name: /127.0.0.1.*broken/ });
    expect(await row.innerText()).toMatch(/Retrying/);
    await expectAccessible(page);
  });

  test("[OUT-2] [OUT-12] [OUT-33] of a success it shows the exact bytes, and a curl command without the secret", async () => {
    const fine = await subscribe("fine");
    await fine.happen();
    const [delivery] = await fine.attempted(1);
    const page = await rig.open("/webhooks/deliveries");
    await page.getByLabel("Endpoint").selectOption(fine.url);
    await page.getByRole("row", { name: /Delivered.*fine.*1 of 6.*200/s }).click();
    const panel = page.getByRole("complementary", { name: "tool.completed" });
    await panel.getByText(/^Your server answered 200 after .* Delivered on the first attempt\.$/).waitFor();
    const sent = rig.toolgate.receiver.requests.find(({ path }) => path === "/fine");
    const body = panel.getByRole("region", { name: "Request body" });
    expect(await body.innerText()).toBe(sent?.body.toString());
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      panel.getByRole("button", { name: "Download" }).last().click(),
    ]);
    expect(download.suggestedFilename()).toBe(`${delivery?.eventId}.json`);
    expect(await readFile(await download.path())).toEqual(sent?.body);
    await panel.getByRole("button", { name: "Make a curl command" }).click();
    const command = await panel.getByRole("region", { name: "curl command" }).innerText();
    expect(command).toContain(fine.url);
    expect(command).not.toContain(fine.secret);
    await panel.getByText("Receivers accept its signature until").waitFor();
    await expectAccessible(page);
  });

  test("[OUT-28] [OUT-30] a signature over a body that was written again is explained", async () => {
    const checked = await subscribe("checked");
    await checked.happen();
    const [delivery] = await checked.attempted(1);
    const page = await rig.open(`/webhooks/deliveries?open=${delivery?.id}`);
    const panel = page.getByRole("complementary", { name: "tool.completed" });
    const sent = rig.toolgate.receiver.requests.find(({ path }) => path === "/checked");
    await panel.getByRole("button", { name: "Check" }).click();
    await panel.getByText(/^Paste the headers/).waitFor();
    await panel
      .getByLabel("Headers", { exact: true })
      .fill(`X-Service-Signature: ${sent?.headers["x-service-signature"]}`);
    await panel.getByLabel("Body", { exact: true }).fill(sent?.body.toString() ?? "");
    await panel.getByRole("button", { name: "Check" }).click();
    await panel.getByText("The signature matches this body").waitFor();
    // What signed these bytes is the endpoint's secret: other spaces are another text.
    const again = JSON.stringify(JSON.parse(sent?.body.toString() ?? ""), undefined, 1);
    await panel.getByLabel("Body", { exact: true }).fill(again);
    await panel.getByRole("button", { name: "Check" }).click();
    await panel.getByText("The signature does not match this body").waitFor();
    await panel.getByText(/^The body was parsed as JSON and serialised again/).waitFor();
    await panel.getByText(/^The body differs from the one that was sent from byte 1 /).waitFor();
  });

  test("[WMGMT-9] [OUT-47] [OUT-52] [OUT-53] a resend is followed to its end on screen", async () => {
    const gone = await subscribe("gone");
    gone.behave(() => ({ status: 410 }));
    await gone.happen();
    const [first] = await gone.attempted(1);
    // The list, and the count of what is newer than the list, which comes after the list has been read again.
    const lateCount = Promise.withResolvers<void>();
    const counted = Promise.withResolvers<void>();
    let reads = 0;
    const page = await rig.open(`/webhooks/deliveries?open=${first?.id}`, {
      prepare: (each) =>
        each.route(/ListDeliveries$/, async (route) => {
          const isLate = ++reads === 2;
          const response = await route.fetch();
          if (isLate) await lateCount.promise;
          await route.fulfill({ response });
          if (isLate) counted.resolve();
        }),
    });
    const panel = page.getByRole("complementary", { name: "tool.completed" });
    await page.getByRole("row", { name: /gone/ }).waitFor();
    await panel.getByText(/answered 410 after .* “gone”, so it is not retried after attempt 1 of 6\.$/).waitFor();
    const answer = Promise.withResolvers<void>();
    gone.behave(() => ({ after: answer.promise }));
    await panel.getByRole("button", { name: "Resend" }).click();
    await panel.getByText("The first attempt is under way.").waitFor();
    const row = page.getByRole("row", { name: /tool\.completed Resend/ });
    await row.getByText("Trying").waitFor();
    // It is in the list already.
    await page.evaluate(WATCH_FOR_NEW);
    lateCount.resolve();
    await counted.promise;
    await page.waitForResponse(/ListDeliveries$/);
    expect(await page.evaluate("saidNew")).toBe(false);
    answer.resolve();
    await panel.getByText(/^Your server answered 200 after .* Delivered on the first attempt\.$/).waitFor();
    const [resent] = await gone.attempted(2);
    expect(resent).toMatchObject({ eventId: first?.eventId, status: "DELIVERY_STATUS_DELIVERED" });
    expect(page.url()).toContain(`open=${resent?.id}`);
    await row.getByText("Delivered").waitFor();
    // The event's deliveries are a link away.
    await panel.getByRole("link", { name: "All deliveries of this event" }).click();
    await page.waitForURL(/event=evt_/);
    await eventually(async () => (await page.getByRole("table").getByRole("row").count()) === 3);
  });

  test("[OUT-13] [OUT-17] of a large body there is a preview and the whole file, and of a large response its beginning", async () => {
    const large = await subscribe("large", {
      handler: 'export default () => ({ success: true, text: "x".repeat(150_000) });',
    });
    large.behave(() => ({ body: "y".repeat(1_000_000) }));
    await large.happen();
    const [delivery] = await large.attempted(1);
    const page = await rig.open(`/webhooks/deliveries?open=${delivery?.id}`);
    const panel = page.getByRole("complementary", { name: "tool.completed" });
    const body = panel.getByRole("region", { name: "Request body" });
    const sent = rig.toolgate.receiver.requests.find(({ path }) => path === "/large")?.body;
    expect(sent?.length).toBeGreaterThan(150_000);
    expect(await body.innerText()).toBe(sent?.subarray(0, 100_000).toString());
    await panel.getByText(`${sent?.length.toLocaleString("en")} bytes; the first 100,000 are shown`).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      panel.getByRole("button", { name: "Download" }).last().click(),
    ]);
    expect(await readFile(await download.path())).toEqual(sent);
    expect(await panel.getByRole("region", { name: "Response body, attempt 1" }).innerText()).toBe("y".repeat(1_000));
    await panel.getByText("Only the first 1,000 characters of a response are kept.").waitFor();
  });

  test("[OUT-11] filters are in the URL and survive a reload", async () => {
    const filtered = await subscribe("filtered");
    await filtered.happen();
    const [delivery] = await filtered.attempted(1);
    const page = await rig.open("/webhooks/deliveries");
    const rows = page.getByRole("rowgroup").getByRole("row");
    await page.getByLabel("Endpoint").selectOption(filtered.url);
    await page.getByLabel("Status").selectOption("Delivered");
    await page.getByLabel("Kind").selectOption("Event");
    await page.getByLabel("Event type").fill("tool.completed");
    await page.getByLabel("Event type").press("Enter");
    await page.getByLabel("From").fill("2020-01-01T00:00");
    await page.getByLabel("Event or request id").fill(delivery?.eventId ?? "");
    await page.waitForURL(/event=evt_/);
    await eventually(async () => (await rows.count()) === 1);
    await page.reload();
    await rows.first().waitFor();
    expect(await page.getByLabel("Endpoint").inputValue()).toBe(filtered.id);
    expect(await page.getByLabel("Status").inputValue()).toBe("delivered");
    expect(await page.getByLabel("From").inputValue()).toBe("2020-01-01T00:00");
    expect(await page.getByLabel("Event or request id").inputValue()).toBe(delivery?.eventId);
    await page.getByLabel("Status").selectOption("Failed");
    await page.getByText("No match").waitFor();
    await page.getByRole("button", { name: "Clear the filters" }).click();
    await rows.first().waitFor();
    expect(new URL(page.url()).search).toBe("");
  });
});
