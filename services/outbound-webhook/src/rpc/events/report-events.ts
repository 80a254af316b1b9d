import {
  type EventReport,
  type EventService,
  NotSentReason,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { InvalidField } from "../../domain/event-types/field.ts";
import type { Redact } from "../../domain/event-types/public-tool-submitted.ts";
import { type Accepted, reportedEvents } from "../../domain/event-types/reported-events.ts";
import type { StoredEvent } from "../../domain/incoming-event.ts";
import { invalidArgument } from "../request-fields.ts";

const MAX_REPORTS = 200;

const NOT_SENT = {
  "test-mode": NotSentReason.TEST_MODE,
  "widget-chat": NotSentReason.WIDGET_CHAT,
  "status-unchanged": NotSentReason.STATUS_UNCHANGED,
} as const;

/** Whatever a report holds, only what the catalogue promises is stored and sent. */
export const reportEvents: Handler<Context, typeof EventService.method.reportEvents> = async (
  { fanOut, redact, announceWork, now },
  { reports },
) => {
  if (reports.length === 0 || reports.length > MAX_REPORTS) throw invalidArgument(`reports: from 1 to ${MAX_REPORTS}`);
  const at = now();
  const accepted = reports.map((report, index) => accept(report, index, redact, at));
  const events = new Map<string, StoredEvent>();
  for (const one of accepted) if ("events" in one) for (const event of one.events) events.set(event.id, event);
  if (events.size > 0 && (await fanOut([...events.values()], at)) > 0) announceWork();
  return { answers: accepted.map(toAnswer) };
};

function accept(report: EventReport, index: number, redact: Redact, now: Date): Accepted {
  try {
    return reportedEvents(report, redact, now);
  } catch (error) {
    if (!(error instanceof InvalidField)) throw error;
    throw invalidArgument(error.within(`reports[${index}]`).message);
  }
}

function toAnswer(accepted: Accepted) {
  if ("events" in accepted) return { eventIds: accepted.events.map(({ id }) => id) };
  return { notSent: NOT_SENT[accepted.notSent] };
}
