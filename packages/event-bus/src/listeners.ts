import type { JsMsg } from "@nats-io/jetstream";
import { headers, type MsgHdrs } from "@nats-io/transport-node";
import { type ConsumeBatchesOptions, consumeBatches } from "./consume.ts";

/** A part of a service that receives events through its own durable consumer. */
export interface EventListener {
  /** Also the name of the durable consumer. Its replicas share it: each message goes to one of them. */
  readonly name: string;
  /** `events.>` for the events of all services, or `events.<source>` for those of one. */
  readonly subject: string;
}

export const FAN_OUT: EventListener = { name: "outbound-webhook-fan-out", subject: "events.>" };

/** All listeners. One that is added here gets all events that are still in an outbox. */
export const EVENT_LISTENERS: readonly EventListener[] = [FAN_OUT];

/** The names of those that must have the events of `source` before it deletes them. */
export function listenersOf(source: string, listeners: readonly EventListener[]): string[] {
  const subjects = new Set(["events.>", `events.${source}`]);
  return listeners.filter(({ subject }) => subjects.has(subject)).map(({ name }) => name);
}

type ConsumeEventsOptions = Omit<ConsumeBatchesOptions, "stream" | "durable" | "filterSubject" | "remakeAfterBreak"> & {
  listener: EventListener;
};

const LISTENERS_HEADER = "Toolgate-Listeners";

/** The headers of a message that is only for the listeners in `names`, separated by commas. */
export function listenersHeader(names: string): MsgHdrs {
  const created = headers();
  created.set(LISTENERS_HEADER, names);
  return created;
}

/**
 * `consumeBatches` for one listener of events. Each message is a WorkspaceEventBatch. An event may arrive late or more
 * than once, so the listener deduplicates by its id and calls `announceSettled` once the event is in its database.
 */
export function consumeEvents({ listener, handle, ...options }: ConsumeEventsOptions): Promise<void> {
  return consumeBatches({
    ...options,
    stream: "EVENTS",
    durable: listener.name,
    filterSubject: listener.subject,
    async handle(messages) {
      const wanted = messages.filter((message) => isFor(message, listener.name));
      if (wanted.length > 0) await handle(wanted);
    },
  });
}

function isFor(message: JsMsg, name: string): boolean {
  const names = message.headers?.get(LISTENERS_HEADER);
  return !names || names.split(",").includes(name);
}
