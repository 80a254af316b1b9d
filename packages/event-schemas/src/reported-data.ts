import type { EventReport, NotSentReason } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { EventReportSchema } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { EVENT_TYPES } from "./catalogue.ts";
import type { EventData } from "./event-type.ts";
import { InvalidField } from "./fields.ts";

/** The types and data of the events that a report stands for, or why nothing is sent. Throws an InvalidField. */
export function reportedData({
  event,
}: Pick<EventReport, "event">): { type: string; data: EventData }[] | NotSentReason {
  if (event.case === undefined) throw new InvalidField("event", "missing");
  const events: { type: string; data: EventData }[] = [];
  for (const { type, report } of EVENT_TYPES) {
    if (report?.case !== event.case) continue;
    try {
      const data = report.dataOf(event.value);
      if (typeof data === "number") return data;
      if (data) events.push({ type, data });
    } catch (error) {
      throw error instanceof InvalidField ? error.within(protoNameOf(event.case)) : error;
    }
  }
  return events;
}

function protoNameOf(localName: string): string {
  return EventReportSchema.fields.find((field) => field.localName === localName)?.name ?? localName;
}
