import { setTimeout as sleep } from "node:timers/promises";
import { createWakeUp } from "@toolgate/event-bus/wake-up";
import { generateSecret } from "@toolgate/webhook-signing/secret";
import { expect, it } from "vitest";
import type { ClaimedDelivery } from "../store/deliveries/claim.ts";
import { runDispatcher } from "./dispatcher.ts";

const TOO_LONG_MS = 1_100;

function delivery(messageId: string): ClaimedDelivery {
  return {
    deliveryId: messageId,
    workspaceId: "w",
    endpointId: 1,
    number: 1,
    eventType: "custom.thing",
    hop: 1,
    traceparent: "",
    tracestate: "",
    url: "https://hooks.example.net/",
    secret: Buffer.from("sealed"),
    customHeaders: null,
    messageId,
    body: Buffer.from("{}"),
    wanted: true,
  };
}

it("[OUT-57] after a claim that took too long, its deliveries are claimed again and sent to the broker", async () => {
  const course: string[] = [];
  const note = (what: string, id: string | undefined) =>
    course.push(`${what} ${id?.startsWith("local-") ? "local" : "sent"}`);
  const stopping = new AbortController();
  await runDispatcher({
    store: {
      isDue: async () => true,
      hasLeases: async () => false,
      async claim(_now, _leaseUntil, claimId = "") {
        note("claimed", claimId);
        if (course.length === 1) await sleep(TOO_LONG_MS);
        return { deliveries: [delivery(claimId)], full: true };
      },
      async handBack([first]) {
        note("handed back", first?.deliveryId);
      },
      leased: async () => ({ deliveries: [], full: false }),
      expireLeases: async () => 0,
    },
    applyResults: async () => false,
    secretBox: { open: () => generateSecret() },
    async send([message]) {
      note("published", message?.messageId);
      stopping.abort();
      return [];
    },
    local: {
      hasRoom: () => true,
      make: async () => void course.push("made here"),
      holds: () => false,
      reserve: async () => {},
    },
    wakeUp: createWakeUp(),
    now: () => new Date(),
    signal: stopping.signal,
    onError: () => {},
  });
  expect(course.slice(0, 4)).toEqual(["claimed local", "handed back local", "claimed sent", "published sent"]);
});
