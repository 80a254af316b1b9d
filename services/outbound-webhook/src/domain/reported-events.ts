import { createHash } from "node:crypto";
import { EVENT_TYPES } from "@toolgate/event-schemas/catalogue";
import type { EventData } from "@toolgate/event-schemas/event-type";
import { InvalidField, line, seconds } from "@toolgate/event-schemas/fields";
import {
  type EventReport,
  EventReportSchema,
  NotSentReason,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { checkEvent, type StoredEvent } from "./incoming-event.ts";

const MAX_SOURCE_ID_CHARS = 200;
const MAX_IDENTITY_CHARS = 128;
const EVENT_ID_HEX_CHARS = 32;

/** The events of a report in their stored form, or the reason why nothing is sent. Throws an InvalidField. */
export function reportedEvents(report: EventReport, now: Date): StoredEvent[] | NotSentReason {
  const workspaceId = line(report.workspaceId, "workspace_id", MAX_IDENTITY_CHARS);
  const workspace = line(report.workspace, "workspace", MAX_IDENTITY_CHARS);
  const sourceId = line(report.sourceId, "source_id", MAX_SOURCE_ID_CHARS);
  const created = seconds(report.occurredAt, "occurred_at");
  const { hop } = report;
  if (hop !== 1 && hop !== 2) throw new InvalidField("hop", "must be 1 or 2");
  const reported = reportedData(report);
  if (typeof reported === "number") return reported;
  // [EVT-59]
  if (report.testMode) return NotSentReason.TEST_MODE;
  return reported.map(({ type, data }) => {
    const eventId = eventIdOf(workspaceId, type, sourceId);
    const dataJson = JSON.stringify(data);
    const check = checkEvent({ eventId, workspaceId, workspace, type, created, dataJson, hop }, now);
    if (!check.ok) throw new InvalidField("event", check.reason);
    // The source may repeat the report of an event with another time.
    return { ...check.event, movedFrom: new Date(Number(created) * 1000) };
  });
}

function reportedData({ event }: EventReport): { type: string; data: EventData }[] | NotSentReason {
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

/** The same id each time the source repeats the report; each event of a report has its own. [EVT-1] */
function eventIdOf(workspaceId: string, type: string, sourceId: string): string {
  const hash = createHash("sha256").update(`${type}\n${workspaceId}\n${sourceId}`).digest("hex");
  return `evt_${hash.slice(0, EVENT_ID_HEX_CHARS)}`;
}
