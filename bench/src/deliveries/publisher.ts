// Stands in for a service in which events happen: publishes them as the outbox relay of a service does, one message for
// all events of a tick.
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { connectBus } from "@toolgate/event-bus/connect";
import { WorkspaceEventBatchSchema } from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import { childArgument, monotonicMs, replyToParent } from "../bench-process.ts";
import type { EventTarget, Published, PublisherArgument, PublisherOrder, Stamp } from "./messages.ts";

const SUBJECT = "events.bench";
const TICK_MS = 5;
const PUBLISH_TIMEOUT_MS = 10_000;
const MAX_EVENTS_PER_MESSAGE = 500;

const { natsUrl, firstNumber } = childArgument<PublisherArgument>();
const bus = await connectBus({ servers: natsUrl, name: "bench-publisher" });
let nextNumber = firstNumber;

function newEvents(targets: EventTarget[], count: number) {
  const created = BigInt(Math.floor(Date.now() / 1000));
  return Array.from({ length: count }, () => {
    const stamp: Stamp = { n: nextNumber, at: monotonicMs() };
    const target = targets[nextNumber % targets.length] as EventTarget;
    nextNumber += 1;
    const eventId = `evt_${randomBytes(16).toString("hex")}`;
    return { ...target, eventId, created, dataJson: JSON.stringify(stamp), hop: 1 };
  });
}

async function publish(targets: EventTarget[], count: number): Promise<void> {
  const batch = create(WorkspaceEventBatchSchema, { events: newEvents(targets, count) });
  await bus.js.publish(SUBJECT, toBinary(WorkspaceEventBatchSchema, batch), { timeout: PUBLISH_TIMEOUT_MS });
}

async function publishSteadily(targets: EventTarget[], perSecond: number, forMs: number): Promise<void> {
  const startMs = monotonicMs();
  const publishing: Promise<void>[] = [];
  let published = 0;
  for (let passedMs = 0; passedMs < forMs; passedMs = monotonicMs() - startMs) {
    const due = Math.floor((passedMs * perSecond) / 1000) - published;
    if (due > 0) publishing.push(publish(targets, due));
    published += due;
    await sleep(TICK_MS);
  }
  await Promise.all(publishing);
}

replyToParent<PublisherOrder, Published>({}, async (order) => {
  const { targets } = order;
  const from = nextNumber;
  if ("burst" in order) {
    for (let left = order.burst; left > 0; left -= MAX_EVENTS_PER_MESSAGE)
      await publish(targets, Math.min(left, MAX_EVENTS_PER_MESSAGE));
  } else await publishSteadily(targets, order.perSecond, order.forMs);
  return { from, until: nextNumber };
});
