import { fromBinary, toJsonString } from "@bufbuild/protobuf";
import { consumeBatches, type Message } from "@toolgate/event-bus/consume";
import { inParts } from "@toolgate/event-bus/in-parts";
import { type ParkedMessage, parkMessages } from "@toolgate/event-bus/parked-messages";
import { createSettledNotices, type NoteSettled } from "@toolgate/event-bus/settled-notices";
import { writeAccepted } from "@toolgate/event-bus/write-accepted";
import {
  type WorkspaceEvent,
  WorkspaceEventBatchSchema,
  WorkspaceEventSchema,
} from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import { inUnlockedGroups } from "@toolgate/postgres/fair-queue/unlocked-groups";
import { contextOf, type Span, SpanKind, spanOf, startSpan } from "@toolgate/telemetry/trace";
import type { Context } from "../context.ts";
import { checkEvent, type StoredEvent } from "../domain/incoming-event.ts";
import { fanOut } from "../store/deliveries/fan-out.ts";
import { SCHEMA } from "../store/queue.ts";

type RunningFanOut = Context & { noteSettled: NoteSettled; lockedLately: Set<string> };

/** An event to be stored. */
interface PendingEvent {
  event: StoredEvent;
  message: Message;
  span: Span | undefined;
}

/** An event, or a whole message, that cannot be processed; without an id if it cannot be read. */
type Refused = Omit<ParkedMessage, "subject"> & { eventId?: string; message: Message };

/** Bounds memory: messages of up to 512 KiB, of which as many again wait here and in the broker's client. */
const MESSAGES_PER_BATCH = 32;
const ACK_WAIT_MS = 6_000;
const MAX_ACK_PENDING = 1_000;
const TRANSACTION = { maxItems: 200, maxBytes: 8 * 1024 * 1024 };

/**
 * Turns published events into deliveries until the signal fires. An event may come more than once; it is published again
 * until it has been noted as settled.
 */
export async function runFanOutConsumer(context: Context, signal: AbortSignal): Promise<void> {
  const { bus, now, onError } = context;
  using notices = createSettledNotices(bus);
  const running: RunningFanOut = { ...context, noteSettled: notices.note, lockedLately: new Set() };
  await consumeBatches({
    bus,
    stream: "EVENTS",
    durable: "outbound-webhook-fan-out",
    filterSubject: "events.>",
    maxMessages: MESSAGES_PER_BATCH,
    ackWaitMs: ACK_WAIT_MS,
    maxAckPending: MAX_ACK_PENDING,
    signal,
    onError: onError("fan-out"),
    async handle(messages, again) {
      const { pending, refused } = read(messages, now());
      const failures: unknown[] = [];
      for (const part of inParts(pending, ({ event }) => event.body.length, TRANSACTION)) {
        try {
          const locked = await storeUnlocked(part, refused, running);
          for (const { message } of locked) again.add(message);
          if (locked[0])
            onError("fan-out")(new Error(`the queue of the workspace ${locked[0].event.workspaceId} is locked`));
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
      // The others are refused again when their message comes again.
      const final = refused.filter(({ message }) => !again.has(message));
      if (final.length > 0) await park(final, running);
    },
  });
}

function read(messages: readonly Message[], now: Date) {
  const pending: PendingEvent[] = [];
  const refused: Refused[] = [];
  for (const message of messages) {
    try {
      for (const published of fromBinary(WorkspaceEventBatchSchema, message.data).events) {
        const check = checkEvent(published, now);
        const payload = () => Buffer.from(toJsonString(WorkspaceEventSchema, published));
        if (check.ok) pending.push({ ...traced(check.event, published), message });
        else refused.push({ message, eventId: published.eventId, reason: check.reason, payload: payload() });
      }
    } catch (error) {
      refused.push({ message, reason: `not readable: ${(error as Error).message}`, payload: message.data });
    }
  }
  return { pending, refused };
}

/** Starts a span of the fan-out in the event's trace; the event's deliveries continue below it. */
function traced(event: StoredEvent, { traceparent, tracestate }: WorkspaceEvent): Pick<PendingEvent, "event" | "span"> {
  const parent = spanOf({ traceparent, tracestate });
  const span = parent && startSpan("fan-out", parent, { kind: SpanKind.CONSUMER });
  return { event: { ...event, trace: span ? contextOf(span.spanContext()) : { traceparent, tracestate } }, span };
}

/** Stores events, or adds them to `refused` if the database refuses them. Returns those of locked workspaces. */
function storeUnlocked(
  events: readonly PendingEvent[],
  refused: Refused[],
  running: RunningFanOut,
): Promise<PendingEvent[]> {
  const workspaceOf = ({ event }: PendingEvent) => event.workspaceId;
  async function storeAccepted(some: PendingEvent[], lockTimeoutMs: number): Promise<void> {
    for (const { item, reason } of await writeAccepted(some, (part) => store(part, lockTimeoutMs, running)))
      refused.push({ message: item.message, eventId: item.event.id, reason, payload: item.event.body });
  }
  return inUnlockedGroups(events, workspaceOf, storeAccepted, running.lockedLately);
}

async function store(
  pending: readonly PendingEvent[],
  lockTimeoutMs: number,
  { queuePool, queue, now, announceWork, noteSettled }: RunningFanOut,
): Promise<void> {
  const deliveries = await fanOut(
    queuePool,
    queue,
    pending.map(({ event }) => event),
    now(),
    lockTimeoutMs,
  );
  for (const { message, event, span } of pending) {
    span?.end();
    noteSettled(message.subject, event.id);
  }
  if (deliveries > 0) announceWork();
}

async function park(refused: readonly Refused[], { pool, now, noteSettled, onError }: RunningFanOut): Promise<void> {
  onError("fan-out")(new Error(`${refused.length} messages parked, the first because: ${refused[0]?.reason}`));
  const parked = refused.map((one) => ({ ...one, subject: one.message.subject }));
  await parkMessages(pool, SCHEMA, parked, now());
  for (const { message, eventId } of refused) if (eventId !== undefined) noteSettled(message.subject, eventId);
}
