import { displayName, EVENT_TYPES, schemaPath } from "@toolgate/event-schemas/catalogue";
import { InvalidField } from "@toolgate/event-schemas/fields";
import type { EventReport, EventService } from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import type { Handlers } from "@toolgate/service-host/handler";
import type { Context } from "../context.ts";
import { reportedEvents } from "../domain/reported-events.ts";
import { fanOut } from "../store/deliveries/fan-out.ts";
import { invalidArgument } from "./request-fields.ts";

const MAX_REPORTS = 200;

export const eventHandlers = {
  /** Only the fields that the catalogue documents are stored and sent. */
  async reportEvents({ queuePool, queue, announceWork, now }, { reports }) {
    if (reports.length === 0 || reports.length > MAX_REPORTS)
      throw invalidArgument(`reports: from 1 to ${MAX_REPORTS}`);
    const at = now();
    const outcomes = reports.map((report, index) => eventsOf(report, index, at));
    const stored = outcomes.flatMap((outcome) => (typeof outcome === "number" ? [] : outcome));
    const events = new Map(stored.map((event) => [event.id, event]));
    if (events.size > 0 && (await fanOut(queuePool, queue, [...events.values()], at)) > 0) announceWork();
    return {
      answers: outcomes.map((outcome) =>
        typeof outcome === "number" ? { notSent: outcome } : { eventIds: outcome.map(({ id }) => id) },
      ),
    };
  },

  async listEventTypes() {
    return {
      eventTypes: EVENT_TYPES.map((kind) => ({
        type: displayName(kind),
        description: kind.sent,
        schemaPath: schemaPath(kind),
        subscribable: kind.subscribable !== false,
        hasSource: kind.hasSource,
      })),
    };
  },
} satisfies Handlers<Context, typeof EventService>;

function eventsOf(report: EventReport, index: number, now: Date) {
  try {
    return reportedEvents(report, now);
  } catch (error) {
    if (!(error instanceof InvalidField)) throw error;
    throw invalidArgument(error.within(`reports[${index}]`).message);
  }
}
