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
