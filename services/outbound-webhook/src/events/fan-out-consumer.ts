import { fromBinary, toJsonString } from "@bufbuild/protobuf";
import type { MessageUnderWay } from "@toolgate/event-bus/consume-each";
import { consumeEachEvent } from "@toolgate/event-bus/consume-events";
import { FAN_OUT } from "@toolgate/event-bus/listeners";
import { parkMessages } from "@toolgate/event-bus/parked-messages";
import { announceSettled } from "@toolgate/event-bus/settled-notices";
import {
  type WorkspaceEvent,
  WorkspaceEventBatchSchema,
  WorkspaceEventSchema,
} from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import type { GroupBatches } from "@toolgate/postgres/fair-queue/group-batches";
import { contextOf, SpanKind, spanOf, startSpan } from "@toolgate/telemetry/trace";
import { checkEvent, type StoredEvent } from "../domain/incoming-event.ts";
import { SCHEMA } from "../store/queue.ts";
import { createFanOutBatches, type FanOutOptions, type PendingEvent } from "./fan-out-batches.ts";
import { Room } from "./room.ts";

/** Those that the broker's client takes in advance. */
const MESSAGES_AHEAD = 64;
const ACK_WAIT_MS = 6_000;
/** Of all processes; the events that wait in this one are bounded by their bytes. */
const MAX_ACK_PENDING = 10_000;
/** While more is waiting here, the next messages wait in the broker. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
/** What an event counts at least, so that their number is bounded, too. */
const MIN_EVENT_BYTES = 8 * 1024;

interface Message {
  subject: string;
  data: Uint8Array;
}

interface Intake {
  batches: GroupBatches<PendingEvent>;
  room: Room;
  options: FanOutOptions;
}

/** An event, or a whole message, that cannot be processed. */
interface Refused {
  /** Undefined if it cannot be read. */
  eventId?: string;
  reason: string;
  payload: Uint8Array;
}

/** Turns published events into deliveries until the signal fires. */
export async function runFanOutConsumer(options: FanOutOptions): Promise<void> {
  const { bus, signal, onError } = options;
  await using batches = createFanOutBatches(options);
  const intake = { batches, room: new Room(MAX_WAITING_BYTES), options };
  await consumeEachEvent({
    bus,
    listener: FAN_OUT,
    maxMessages: MESSAGES_AHEAD,
    ackWaitMs: ACK_WAIT_MS,
    maxAckPending: MAX_ACK_PENDING,
    signal,
    onError,
    handle: (message) => handleMessage(message, intake),
  });
}

function handleMessage({ subject, data }: Message, { batches, room, options }: Intake): MessageUnderWay {
  const now = options.now();
  const refused: Refused[] = [];
  const stored: Promise<void>[] = [];
  let messageBytes = 0;
  for (const published of eventsIn(data, refused)) {
    const { eventId } = published;
    const check = checkEvent(published, now);
    if (check.ok) {
      const bytes = Math.max(MIN_EVENT_BYTES, check.event.body.length);
      stored.push(batches.add({ ...traced(check.event, published), bytes, subject, isDone: false }));
      messageBytes += bytes;
    } else {
      const payload = Buffer.from(toJsonString(WorkspaceEventSchema, published));
      refused.push({ eventId, reason: check.reason, payload });
    }
  }
  const done = finish(subject, stored, refused, options);
  return { done: room.use(messageBytes, done), room: room.untilFree() };
}

function eventsIn(data: Uint8Array, refused: Refused[]): WorkspaceEvent[] {
  try {
    return fromBinary(WorkspaceEventBatchSchema, data).events;
  } catch (error) {
    refused.push({ reason: `not readable: ${(error as Error).message}`, payload: data });
    return [];
  }
}

/** Starts a span of the fan-out in the event's trace; the event's deliveries continue below it. */
function traced(event: StoredEvent, { traceparent, tracestate }: WorkspaceEvent): Pick<PendingEvent, "event" | "span"> {
  const parent = spanOf({ traceparent, tracestate });
  const span = parent && startSpan("fan-out", parent, { kind: SpanKind.CONSUMER });
  return { event: { ...event, trace: span ? contextOf(span.spanContext()) : { traceparent, tracestate } }, span };
}

/** Resolves once every event of a message is stored or parked. Rejects if it must be sent again. */
async function finish(
  subject: string,
  stored: readonly Promise<void>[],
  refused: readonly Refused[],
  { bus, pool, now, onError }: FanOutOptions,
): Promise<void> {
  const failure = (await Promise.allSettled(stored)).find(({ status }) => status === "rejected");
  if (failure) throw new Error("not all events of the message were stored");
  const [first] = refused;
  if (!first) return;
  onError(new Error(`${refused.length} messages parked, the first because: ${first.reason}`));
  const parked = refused.map(({ reason, payload }) => ({ subject, reason, payload }));
  await parkMessages(pool, SCHEMA, parked, now()).catch((error: unknown) => {
    onError(error);
    throw error;
  });
  const eventIds = refused.flatMap(({ eventId = [] }) => eventId);
  announceSettled(bus, subject, { listener: FAN_OUT.name, eventIds });
}
