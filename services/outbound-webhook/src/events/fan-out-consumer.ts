import { fromBinary, toJsonString } from "@bufbuild/protobuf";
import type { Bus } from "@toolgate/event-bus/connect";
import { consumeEvents } from "@toolgate/event-bus/consume-events";
import { FAN_OUT } from "@toolgate/event-bus/listeners";
import { type ParkedMessage, parkMessages } from "@toolgate/event-bus/parked-messages";
import { announceSettled } from "@toolgate/event-bus/settled-notices";
import { WorkspaceEventBatchSchema, WorkspaceEventSchema } from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import { isDataError } from "@toolgate/postgres/data-error";
import type { Pool } from "@toolgate/postgres/pool";
import { contextOf, type Span, SpanKind, spanOf, startSpan, type TraceContext } from "@toolgate/telemetry/trace";
import { checkEvent, type StoredEvent } from "../domain/incoming-event.ts";
import type { FanOut } from "../store/deliveries/fan-out.ts";
import { SCHEMA } from "../store/queue.ts";

interface FanOutConsumerOptions {
  bus: Bus;
  pool: Pool;
  fanOut: FanOut;
  announceWork: () => void;
  now: () => Date;
  signal: AbortSignal;
  onError: (error: unknown) => void;
}

const MESSAGES_PER_BATCH = 64;
const EVENTS_PER_TRANSACTION = 500;
const ACK_WAIT_MS = 6_000;
const MAX_ACK_PENDING = 1_024;

interface Message {
  subject: string;
  data: Uint8Array;
}

/** Turns published events into deliveries until the signal fires. */
export function runFanOutConsumer(options: FanOutConsumerOptions): Promise<void> {
  const { bus, signal, onError } = options;
  return consumeEvents({
    bus,
    listener: FAN_OUT,
    maxMessages: MESSAGES_PER_BATCH,
    ackWaitMs: ACK_WAIT_MS,
    maxAckPending: MAX_ACK_PENDING,
    signal,
    onError,
    handle: (messages) => handleMessages(messages, options),
  });
}

async function handleMessages(messages: readonly Message[], options: FanOutConsumerOptions): Promise<void> {
  const now = options.now();
  const events: StoredEvent[] = [];
  const parked: ParkedMessage[] = [];
  const spans: Span[] = [];
  const settled = new Map<string, string[]>();
  for (const message of messages) {
    const ids = settled.get(message.subject) ?? [];
    settled.set(message.subject, ids);
    readMessage(message, now, { events, parked, ids, spans });
  }
  let deliveries = 0;
  for (let start = 0; start < events.length; start += EVENTS_PER_TRANSACTION) {
    const chunk = events.slice(start, start + EVENTS_PER_TRANSACTION);
    deliveries += await fanOutOrPark(chunk, now, options.fanOut, parked);
  }
  for (const span of spans) span.end();
  if (parked.length > 0) {
    options.onError(new Error(`${parked.length} messages parked, the first because: ${parked[0]?.reason}`));
    await parkMessages(options.pool, SCHEMA, parked, now);
  }
  for (const [subject, eventIds] of settled)
    announceSettled(options.bus, subject, { listener: FAN_OUT.name, eventIds });
  if (deliveries > 0) options.announceWork();
}

function readMessage(
  { subject, data }: Message,
  now: Date,
  into: { events: StoredEvent[]; parked: ParkedMessage[]; ids: string[]; spans: Span[] },
): void {
  try {
    for (const published of fromBinary(WorkspaceEventBatchSchema, data).events) {
      const check = checkEvent(published, now);
      into.ids.push(published.eventId);
      if (check.ok) into.events.push(traced(check.event, published, into.spans));
      else {
        const payload = Buffer.from(toJsonString(WorkspaceEventSchema, published));
        into.parked.push({ subject, reason: check.reason, payload });
      }
    }
  } catch (error) {
    into.parked.push({ subject, reason: `not readable: ${(error as Error).message}`, payload: data });
  }
}

/** Starts a span of the fan-out in the event's trace; the event's deliveries continue below it. */
function traced(event: StoredEvent, { traceparent, tracestate }: TraceContext, spans: Span[]): StoredEvent {
  const parent = spanOf({ traceparent, tracestate });
  const span = parent && startSpan("fan-out", parent, { kind: SpanKind.CONSUMER });
  if (!span) return { ...event, trace: { traceparent, tracestate } };
  spans.push(span);
  return { ...event, trace: contextOf(span.spanContext()) };
}

/**
 * When the database rejects the content of an event, the batch is halved until that event is alone and can be parked,
 * so that it does not delay the others. After any other failure the broker sends the batch again.
 */
async function fanOutOrPark(
  events: readonly StoredEvent[],
  now: Date,
  fanOut: FanOut,
  parked: ParkedMessage[],
): Promise<number> {
  try {
    return await fanOut(events, now);
  } catch (error) {
    if (!isDataError(error)) throw error;
    const [single] = events;
    if (events.length === 1 && single) {
      parked.push({ subject: "events", reason: (error as Error).message, payload: single.body });
      return 0;
    }
    const middle = Math.ceil(events.length / 2);
    const first = await fanOutOrPark(events.slice(0, middle), now, fanOut, parked);
    return first + (await fanOutOrPark(events.slice(middle), now, fanOut, parked));
  }
}
