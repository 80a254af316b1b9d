import { createHash } from "node:crypto";
import { type EventReport, EventReportSchema } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { checkEvent, type StoredEvent } from "../incoming-event.ts";
import { InvalidField, line, seconds } from "./field.ts";
import type { Happening } from "./happening.ts";
import { inboxMessageReceived } from "./inbox-message-received.ts";
import { inboxThreadStatusChanged } from "./inbox-thread-status-changed.ts";
import { publicToolSubmitted, type Redact } from "./public-tool-submitted.ts";
import { scheduledTaskCompleted, scheduledTaskFailed } from "./scheduled-task.ts";
import { socialConnected, socialRevoked } from "./social.ts";

export type Accepted = { events: StoredEvent[] } | Exclude<Happening, { events: unknown }>;

const MAX_SOURCE_ID_CHARS = 200;
const MAX_IDENTITY_CHARS = 128;
const EVENT_ID_HEX_CHARS = 32;

/** The events that a report stands for, as they are stored. Throws an InvalidField that names what is wrong. */
export function reportedEvents(report: EventReport, redact: Redact, now: Date): Accepted {
  const workspaceId = line(report.workspaceId, "workspace_id", MAX_IDENTITY_CHARS);
  const workspace = line(report.workspace, "workspace", MAX_IDENTITY_CHARS);
  const sourceId = line(report.sourceId, "source_id", MAX_SOURCE_ID_CHARS);
  const created = seconds(report.occurredAt, "occurred_at");
  const { hop } = report;
  if (hop !== 1 && hop !== 2) throw new InvalidField("hop", "is neither 1 nor 2");
  const happening = inField(nameOf(report), () => happeningOf(report, redact));
  if (!("events" in happening)) return happening;
  // [EVT-59]
  if (report.testMode) return { notSent: "test-mode" };
  const events = happening.events.map(({ type, data }) => {
    const eventId = eventIdOf(workspaceId, type, sourceId);
    const dataJson = JSON.stringify(data);
    const check = checkEvent({ eventId, workspaceId, workspace, type, created, dataJson, hop }, now);
    if (!check.ok) throw new InvalidField(nameOf(report), check.reason);
    // The next report of the same id may bear another time.
    return { ...check.event, movedFrom: new Date(Number(created) * 1000) };
  });
  return { events };
}

function happeningOf({ event }: EventReport, redact: Redact): Happening {
  switch (event.case) {
    case "inboxMessageReceived":
      return inboxMessageReceived(event.value);
    case "inboxThreadStatusChanged":
      return inboxThreadStatusChanged(event.value);
    case "scheduledTaskCompleted":
      return scheduledTaskCompleted(event.value);
    case "scheduledTaskFailed":
      return scheduledTaskFailed(event.value);
    case "publicToolSubmitted":
      return publicToolSubmitted(event.value, redact);
    case "socialConnected":
      return socialConnected(event.value);
    case "socialRevoked":
      return socialRevoked(event.value);
    default:
      throw new InvalidField("event", "is missing");
  }
}

/** [EVT-1] The same for the same happening, and another one for each type that it stands for. */
function eventIdOf(workspaceId: string, type: string, sourceId: string): string {
  const hash = createHash("sha256").update(`${type}\n${workspaceId}\n${sourceId}`).digest("hex");
  return `evt_${hash.slice(0, EVENT_ID_HEX_CHARS)}`;
}

function nameOf({ event }: EventReport): string {
  return EventReportSchema.fields.find((field) => field.localName === event.case)?.name ?? "event";
}

function inField<T>(field: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof InvalidField && field !== "event") throw error.within(field);
    throw error;
  }
}
