import type { JsMsg } from "@nats-io/jetstream";
import { type ConsumeBatchesOptions, consumeBatches } from "./consume.ts";
import { createSettledNotices, type NoteSettled } from "./settled-notices.ts";

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
  return listeners.filter(({ subject }) => ["events.>", `events.${source}`].includes(subject)).map(({ name }) => name);
}

type ConsumeEventsOptions = Omit<
  ConsumeBatchesOptions,
  "stream" | "durable" | "filterSubject" | "remakeAfterBreak" | "handle"
> & {
  listener: EventListener;
  /** As for `consumeBatches`; it also says which events are now in the listener's database. */
  handle: (messages: JsMsg[], noteSettled: NoteSettled) => Promise<void>;
};

/**
 * `consumeBatches` for one listener of events. Each message is a WorkspaceEventBatch. An event may arrive late or more
 * than once, so the listener deduplicates by its id. Until it has noted an event as settled, the event is sent again.
 */
export async function consumeEvents({ listener, handle, ...options }: ConsumeEventsOptions): Promise<void> {
  const { name: durable, subject: filterSubject } = listener;
  using notices = createSettledNotices(options.bus, durable);
  const handleMessages = (messages: JsMsg[]) => handle(messages, notices.note);
  await consumeBatches({ ...options, stream: "EVENTS", durable, filterSubject, handle: handleMessages });
}
