import { InvalidField } from "@toolgate/event-schemas/fields";
import type { EventReport, EventService } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { reportedEvents } from "../../domain/reported-events.ts";
import { fanOut } from "../../store/deliveries/fan-out.ts";
import { invalidArgument } from "../request-fields.ts";

const MAX_REPORTS = 200;

/** Only the fields that the catalogue documents are stored and sent. */
export const reportEvents: Handler<Context, typeof EventService.method.reportEvents> = async (
  { queuePool, queue, announceWork, now },
  { reports },
) => {
  if (reports.length === 0 || reports.length > MAX_REPORTS) throw invalidArgument(`reports: from 1 to ${MAX_REPORTS}`);
  const at = now();
  const outcomes = reports.map((report, index) => eventsOf(report, index, at));
  const events = new Map(outcomes.flatMap((outcome) => (typeof outcome === "number" ? [] : outcome)).map(byId));
  if (events.size > 0 && (await fanOut(queuePool, queue, [...events.values()], at)) > 0) announceWork();
  return {
    answers: outcomes.map((outcome) =>
      typeof outcome === "number" ? { notSent: outcome } : { eventIds: outcome.map(({ id }) => id) },
    ),
  };
};

function eventsOf(report: EventReport, index: number, now: Date) {
  try {
    return reportedEvents(report, now);
  } catch (error) {
    if (!(error instanceof InvalidField)) throw error;
    throw invalidArgument(error.within(`reports[${index}]`).message);
  }
}

function byId<Event extends { id: string }>(event: Event): [string, Event] {
  return [event.id, event];
}
