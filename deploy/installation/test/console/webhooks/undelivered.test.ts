import { eventually } from "@toolgate/testbed/eventually";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible, expectToFit } from "../accessibility.ts";
import { describeConsole } from "../console-rig.ts";
import { type Subscribe, type Subscriber, webhookScene } from "./webhook-scene.ts";

describeConsole("undelivered events and replays in the console", (rig) => {
  let subscribe: Subscribe;

  beforeAll(async () => {
    subscribe = await webhookScene(rig);
  });

  const rowOf = (page: Page, name: string) =>
    page.getByRole("table", { name: "Undelivered" }).getByRole("row", { name: new RegExp(`/${name}\\b`) });
  const dialogOf = (page: Page) => page.getByRole("dialog");

  /** The ids of the undelivered events of an endpoint, once there are this many. */
  function undelivered({ id }: Subscriber, count: number): Promise<string[]> {
    return eventually(async () => {
      const { events = [] } = await rig.toolgate.manage<{ events?: { eventId: string }[] }>(
        "outbound_webhook.v1.UndeliveredService/ListUndelivered",
        { endpointId: id },
      );
      return events.length === count && events.map(({ eventId }) => eventId).sort();
    });
  }

  /** An endpoint that is active again, and has missed events. */
  async function withMissed(name: string, count: number): Promise<Subscriber> {
    const subscriber = await subscribe(name);
    await subscriber.setActive(false);
    for (let index = 0; index < count; index += 1) await subscriber.happen();
    await undelivered(subscriber, count);
    await subscriber.setActive(true);
    return subscriber;
  }

  const arrived = (name: string) =>
    rig.toolgate.receiver.requests
      .filter(({ path }) => path === `/${name}`)
      .map(({ body, headers }) => ({
        event: String(JSON.parse(body.toString()).id),
        delivery: headers["x-service-delivery"],
      }));
  const eventsOf = (requests: { event: string }[]) => requests.map(({ event }) => event).sort();

  async function openReplay(page: Page, { url }: Subscriber) {
    await page.getByRole("button", { name: "Replay…" }).click();
    await dialogOf(page).getByLabel("Endpoint").selectOption(url);
  }

  test("[OUT-46] [OUT-47] events that an endpoint missed are listed with the reason, until a resend of one succeeds", async () => {
    const gone = await subscribe("gone");
    gone.behave(() => ({ status: 410 }));
    await gone.happen();
    const [event] = await undelivered(gone, 1);
    const cancelled = await subscribe("cancelled");
    cancelled.behave(() => ({ status: 500 }));
    await cancelled.happen();
    await cancelled.attempted(1);
    await cancelled.setActive(false);
    await undelivered(cancelled, 1);
    const idle = await withMissed("idle", 2);
    const page = await rig.open("/webhooks/undelivered");
    await rowOf(page, "gone").getByText("Delivery failed").waitFor();
    expect(await rowOf(page, "gone").innerText()).toContain("410");
    await rowOf(page, "cancelled").getByText("Delivery cancelled").waitFor();
    await rowOf(page, "idle").first().getByText("Endpoint inactive").waitFor();
    await expectAccessible(page);
    // The count of an endpoint is the filter for it.
    await page.getByRole("button", { name: /idle 2$/ }).click();
    await rowOf(page, "gone").waitFor({ state: "detached" });
    expect(await rowOf(page, "idle").count()).toBe(2);
    expect(await page.getByLabel("Endpoint", { exact: true }).inputValue()).toBe(idle.id);
    await page.getByRole("button", { name: /cancelled 1$/ }).click();
    await rowOf(page, "cancelled").click();
    const panel = page.getByRole("complementary", { name: "tool.completed" });
    await panel.getByText(/^Your server answered 500 after .* the endpoint was deactivated or deleted\.$/).waitFor();
    await panel.getByRole("button", { name: "Resend" }).click();
    await panel
      .getByRole("alert")
      .getByText(/the endpoint is inactive/i)
      .waitFor();
    await panel.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: /gone 1$/ }).click();
    await rowOf(page, "gone").click();
    await panel.getByText(/^Your server answered 410 after .* not retried after attempt 1 of 6\.$/).waitFor();
    await expectAccessible(page);
    gone.behave(() => ({}));
    await panel.getByRole("button", { name: "Resend" }).click();
    await panel.getByText(/^Your server answered 200 after .* Delivered on the first attempt\.$/).waitFor();
    await panel.getByText("This event is no longer undelivered.").waitFor();
    await page.getByText("No match").waitFor();
    expect(eventsOf(arrived("gone"))).toEqual([event, event]);
  });

  test("[OUT-52] [OUT-53] [OUT-57] a replay tells its filter and count first, and each event arrives once, with its own id", async () => {
    const missed = await subscribe("missed");
    await missed.happen();
    await missed.attempted(1);
    await missed.setActive(false);
    for (let index = 0; index < 3; index += 1) await missed.happen();
    const events = await undelivered(missed, 3);
    await missed.setActive(true);
    const before = arrived("missed");
    const page = await rig.open("/webhooks/undelivered");
    await openReplay(page, missed);
    const dialog = dialogOf(page);
    await dialog.getByLabel("Events per second").fill("0");
    await dialog.getByRole("button", { name: "Preview" }).click();
    await dialog.getByText("Enter a whole number from 1 to 100.").waitFor();
    await dialog.getByLabel("Events per second").fill("100");
    await dialog.getByLabel("Before").fill("2020-01-01T00:00");
    await dialog.getByLabel("From").fill("2019-01-01T00:00");
    await dialog.getByRole("button", { name: "Preview" }).click();
    await dialog.getByText("There is nothing to replay in this range.").waitFor();
    expect(await dialog.getByRole("button", { name: /^Replay/ }).count()).toBe(0);
    await dialog.getByRole("button", { name: "Back" }).click();
    await dialog.getByLabel("Before").fill("");
    await dialog.getByLabel("Which events").selectOption("All events, delivered ones too");
    await dialog.getByRole("button", { name: "Preview" }).click();
    await dialog.getByRole("button", { name: "Replay 4 events" }).waitFor();
    await dialog.getByRole("button", { name: "Back" }).click();
    await dialog.getByLabel("Which events").selectOption("Undelivered events only");
    await dialog.getByLabel("Add an event type").fill("tool.completed");
    await dialog.getByRole("button", { name: "Preview" }).click();
    const told = dialog.getByText(/^3 undelivered events of type tool\.completed from 1 Jan 2019, 00:00:00 up to /);
    expect(await told.innerText()).toContain(`, to ${missed.url}.`);
    await expectAccessible(page);
    expect(arrived("missed")).toEqual(before);
    await dialog.getByRole("button", { name: "Replay 3 undelivered events" }).click();
    const replay = page.getByRole("region", { name: /^Replay to .*\/missed$/ });
    await replay.getByText("Done").waitFor();
    await replay.getByText("3 of 3 sent · 3 delivered", { exact: true }).waitFor();
    await undelivered(missed, 0);
    await rowOf(page, "missed").first().waitFor({ state: "detached" });
    const replayed = arrived("missed").slice(before.length);
    expect(eventsOf(replayed)).toEqual(events);
    expect(new Set([...before, ...replayed].map(({ delivery }) => delivery)).size).toBe(4);
  });

  test("[WMGMT] a running replay is followed and cancelled on screen, and what it has not delivered stays undelivered", async () => {
    const partly = await withMissed("partly", 4);
    // What fails waits for its retry, which is a minute away.
    partly.behave((index) => ({ status: index < 2 ? 200 : 500 }));
    const page = await rig.open(`/webhooks/undelivered?endpoint=${partly.id}`);
    await rowOf(page, "partly").first().waitFor();
    await page.keyboard.press("c");
    await dialogOf(page).getByRole("button", { name: "Preview" }).click();
    await dialogOf(page).getByRole("button", { name: "Replay 4 undelivered events" }).click();
    const replay = page.getByRole("region", { name: /^Replay to .*\/partly$/ });
    await replay.getByText("4 of 4 sent · 2 delivered · 2 under way").waitFor();
    await replay.getByText("Running").waitFor();
    await replay.getByRole("progressbar").waitFor();
    await eventually(() => arrived("partly").length === 4);
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    // The question repeats the filter and the count; the focus is on Cancel.
    await replay.getByRole("button", { name: "Cancel replay" }).click();
    await dialogOf(page)
      .getByText(/^4 undelivered events of all types from .*, to .*partly: 4 of 4 sent/)
      .waitFor();
    await page.keyboard.press("Enter");
    await dialogOf(page).waitFor({ state: "detached" });
    await replay.getByText("Running").waitFor();
    await replay.getByRole("button", { name: "Cancel replay" }).click();
    await dialogOf(page).getByRole("button", { name: "Cancel replay" }).click();
    await replay.getByText("Cancelled", { exact: true }).waitFor();
    await replay.getByText("4 of 4 sent · 2 delivered · 2 cancelled").waitFor();
    await replay.getByText(`cancelled by ${rig.toolgate.account.email}`).waitFor();
    const delivered = arrived("partly").slice(0, 2);
    for (const event of await undelivered(partly, 2)) expect(eventsOf(delivered)).not.toContain(event);
    expect(new Set(eventsOf(arrived("partly"))).size).toBe(4);
  });
});
