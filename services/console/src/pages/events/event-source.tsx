import type { EventType } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { EVENT_GROUPS, EVENTS } from "../../text/en/webhooks/events.ts";
import { Status } from "../../ui/status.tsx";

/** Whether a service of this version sends events of the type. */
export function EventSource({ hasSource, subscribable }: Pick<EventType, "hasSource" | "subscribable">) {
  if (!subscribable) return <Status tone="dim">{EVENTS.testOnly}</Status>;
  if (!hasSource) return <Status tone="warn">{EVENTS.notSent}</Status>;
  return <Status tone="good">{EVENTS.sent}</Status>;
}

/** The heading under which a type is listed. */
export function groupOf(type: string): string {
  const [prefix = type] = type.split(".");
  return EVENT_GROUPS[prefix] ?? prefix;
}
