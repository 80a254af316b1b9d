import { fromBinary } from "@bufbuild/protobuf";
import type { Bus } from "@toolgate/event-bus/connect";
import { consumeEvents } from "@toolgate/event-bus/consume-events";
import { FAN_OUT } from "@toolgate/event-bus/listeners";
import { reportSettled } from "@toolgate/event-bus/settled-reports";
import { WorkspaceEventBatchSchema } from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import { isDataError } from "@toolgate/postgres/data-error";
import { checkEvent, type StoredEvent } from "../domain/incoming-event.ts";
import type { FanOut } from "../store/deliveries/fan-out.ts";
import type { ParkedMessage } from "../store/parked-message.ts";
import { announceWork } from "./wake-up.ts";

export interface FanOutConsumerOptions {
  bus: Bus;
  fanOut: FanOut;
  park: (messages: ParkedMessage[], now: Date) => Promise<void>;
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

/** Turns reported events into deliveries until the signal fires. */
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
  const settled = new Map<string, string[]>();
  for (const message of messages) {
    const ids = settled.get(message.subject) ?? [];
    settled.set(message.subject, ids);
    readMessage(message, now, { events, parked, ids });
  }
  let deliveries = 0;
  for (let start = 0; start < events.length; start += EVENTS_PER_TRANSACTION) {
    const chunk = events.slice(start, start + EVENTS_PER_TRANSACTION);
    deliveries += await fanOutOrPark(chunk, now, options.fanOut, parked);
  }
  if (parked.length > 0) {
    options.onError(new Error(`${parked.length} messages parked, the first because: ${parked[0]?.reason}`));
    await options.park(parked, now);
  }
  for (const [subject, eventIds] of settled) reportSettled(options.bus, subject, { listener: FAN_OUT.name, eventIds });
  if (deliveries > 0) announceWork(options.bus);
}

function readMessage(
  { subject, data }: Message,
  now: Date,
  into: { events: StoredEvent[]; parked: ParkedMessage[]; ids: string[] },
): void {
  try {
    for (const reported of fromBinary(WorkspaceEventBatchSchema, data).events) {
      const check = checkEvent(reported, now);
      if (check.ok) into.events.push(check.event);
      else
        into.parked.push({
          subject,
          reason: check.reason,
          payload: Buffer.from(JSON.stringify(withoutType(reported))),
        });
      into.ids.push(reported.eventId);
    }
  } catch (error) {
    into.parked.push({ subject, reason: `not readable: ${(error as Error).message}`, payload: data });
  }
}

/** JSON has no bigint and no place for the library's own members. */
function withoutType(reported: { created: bigint; $typeName?: string }): object {
  const { $typeName: _, ...members } = reported;
  return { ...members, created: String(reported.created) };
}

/**
 * An event that the database refuses for what it holds must not hold up its neighbours: the batch is halved until it
 * stands alone, and is parked. Any other failure is the batch's: it comes again.
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
