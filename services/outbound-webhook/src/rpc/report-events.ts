import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import {
  type EventReport,
  type EventService,
  NotSentReason,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/event_pb";
import { InvalidField } from "../domain/event-types/field.ts";
import type { Redact } from "../domain/event-types/public-tool-submitted.ts";
import { type Accepted, reportedEvents } from "../domain/event-types/reported-events.ts";
import type { StoredEvent } from "../domain/incoming-event.ts";
import type { FanOut } from "../store/deliveries/fan-out.ts";

const MAX_REPORTS = 200;

const NOT_SENT = {
  "test-mode": NotSentReason.TEST_MODE,
  "widget-chat": NotSentReason.WIDGET_CHAT,
  "status-unchanged": NotSentReason.STATUS_UNCHANGED,
} as const;

/** The entrance that no source can misuse: whatever a report holds, only what the catalogue promises goes on. */
export function reportEvents(deps: {
  fanOut: FanOut;
  redact: Redact;
  announceWork: () => void;
  now: () => Date;
}): ServiceImpl<typeof EventService>["reportEvents"] {
  const { fanOut, redact, announceWork, now } = deps;
  return async ({ reports }) => {
    if (reports.length === 0 || reports.length > MAX_REPORTS) {
      throw new ConnectError(`reports: 1 to ${MAX_REPORTS}`, Code.InvalidArgument);
    }
    const at = now();
    const accepted = reports.map((report, index) => accept(report, index, redact, at));
    const events = new Map<string, StoredEvent>();
    for (const one of accepted) if ("events" in one) for (const event of one.events) events.set(event.id, event);
    if (events.size > 0 && (await fanOut([...events.values()], at)) > 0) announceWork();
    return { answers: accepted.map(answerOf) };
  };
}

function accept(report: EventReport, index: number, redact: Redact, now: Date): Accepted {
  try {
    return reportedEvents(report, redact, now);
  } catch (error) {
    if (!(error instanceof InvalidField)) throw error;
    throw new ConnectError(error.within(`reports[${index}]`).message, Code.InvalidArgument);
  }
}

function answerOf(accepted: Accepted) {
  if ("events" in accepted) return { eventIds: accepted.events.map(({ id }) => id) };
  return { notSent: NOT_SENT[accepted.notSent] };
}
