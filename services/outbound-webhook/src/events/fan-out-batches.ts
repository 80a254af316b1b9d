import { setTimeout as sleep } from "node:timers/promises";
import type { Bus } from "@toolgate/event-bus/connect";
import { FAN_OUT } from "@toolgate/event-bus/listeners";
import { parkMessages } from "@toolgate/event-bus/parked-messages";
import { announceSettled } from "@toolgate/event-bus/settled-notices";
import { isDataError, isLockTimeout } from "@toolgate/postgres/data-error";
import { createGroupBatches, type GroupBatches } from "@toolgate/postgres/fair-queue/group-batches";
import type { Pool } from "@toolgate/postgres/pool";
import type { Span } from "@toolgate/telemetry/trace";
import { ExpectedSubscriptions } from "../domain/expected-subscriptions.ts";
import type { StoredEvent } from "../domain/incoming-event.ts";
import type { FanOut } from "../store/deliveries/fan-out.ts";
import { SCHEMA } from "../store/queue.ts";

export interface FanOutOptions {
  bus: Bus;
  pool: Pool;
  fanOut: FanOut;
  /** Those of the workspaces whose queue nobody has locked now. */
  unlockedOf: (workspaceIds: readonly string[]) => Promise<ReadonlySet<string>>;
  announceWork: () => void;
  now: () => Date;
  signal: AbortSignal;
  onError: (error: unknown) => void;
}

/** An event that waits to be stored. */
export interface PendingEvent {
  event: StoredEvent;
  bytes: number;
  /** The subject of its message. */
  subject: string;
  span: Span | undefined;
  /** True once it is stored or parked. */
  isDone: boolean;
}

const MIB = 1024 * 1024;
const EVENTS_PER_TRANSACTION = 500;
const BYTES_PER_TRANSACTION = 8 * MIB;
/** Deliveries that a transaction will probably make. */
const DELIVERIES_PER_TRANSACTION = 1_000;
/**
 * A workspace with more deliveries to make gets transactions of its own, which are small and leave the database to the
 * others for as long as they took.
 */
const DELIVERIES_APART_ABOVE = 100;
const DELIVERIES_PER_TRANSACTION_APART = 200;
const MAX_REST_MS = 500;

/** Stores events in the order of each workspace. Workspaces take turns, so that the events of one do not delay others'. */
export function createFanOutBatches(options: FanOutOptions): GroupBatches<PendingEvent> {
  const expected = new ExpectedSubscriptions();
  const { unlockedOf, signal, onError } = options;
  return createGroupBatches<PendingEvent>({
    groupOf: ({ event }) => event.workspaceId,
    sizeOf: ({ bytes }) => bytes,
    costOf: (workspaceId) => expected.of(workspaceId),
    isDone: ({ isDone }) => isDone,
    unlockedOf,
    async commit(items, lockTimeoutMs) {
      // The broker gives them to another process.
      if (signal.aborted) throw new Error("the fan-out is stopping");
      try {
        await storeOrPark(items, lockTimeoutMs, expected, options);
      } catch (error) {
        if (!isLockTimeout(error)) onError(error);
        throw error;
      }
    },
    maxInFlight: 1,
    maxItems: EVENTS_PER_TRANSACTION,
    maxBytes: BYTES_PER_TRANSACTION,
    maxCost: DELIVERIES_PER_TRANSACTION,
    apart: {
      aboveCost: DELIVERIES_APART_ABOVE,
      maxCost: DELIVERIES_PER_TRANSACTION_APART,
      rest: (tookMs) => sleep(Math.min(tookMs, MAX_REST_MS)),
    },
    // The consumer takes no message while too much is waiting.
    maxWaitingItems: Number.POSITIVE_INFINITY,
    maxWaitingBytes: Number.POSITIVE_INFINITY,
    groupShare: 1,
  });
}

/**
 * When the database rejects the content of an event, the batch is halved until that event is alone and can be parked,
 * so that it does not delay the others. After any other failure the broker sends the messages again.
 */
async function storeOrPark(
  items: readonly PendingEvent[],
  lockTimeoutMs: number,
  expected: ExpectedSubscriptions,
  options: FanOutOptions,
): Promise<void> {
  try {
    await store(items, lockTimeoutMs, expected, options);
  } catch (error) {
    if (!isDataError(error)) throw error;
    const [single] = items;
    if (items.length === 1 && single) return park(single, (error as Error).message, options);
    const middle = Math.ceil(items.length / 2);
    await storeOrPark(items.slice(0, middle), lockTimeoutMs, expected, options);
    await storeOrPark(items.slice(middle), lockTimeoutMs, expected, options);
  }
}

async function store(
  items: readonly PendingEvent[],
  lockTimeoutMs: number,
  expected: ExpectedSubscriptions,
  { fanOut, bus, now, announceWork }: FanOutOptions,
): Promise<void> {
  const events = items.map(({ event }) => event);
  const { deliveries, subscriptions } = await fanOut(events, now(), lockTimeoutMs);
  for (const [workspaceId, own] of Map.groupBy(events, (event) => event.workspaceId))
    expected.note(workspaceId, own.length, subscriptions.get(workspaceId) ?? 0);
  for (const item of items) {
    item.isDone = true;
    item.span?.end();
  }
  for (const [subject, own] of Map.groupBy(items, (item) => item.subject))
    announceSettled(bus, subject, { listener: FAN_OUT.name, eventIds: own.map(({ event }) => event.id) });
  if (deliveries > 0) announceWork();
}

async function park(item: PendingEvent, reason: string, { pool, bus, now, onError }: FanOutOptions): Promise<void> {
  const { event, subject } = item;
  onError(new Error(`an event was parked because: ${reason}`));
  await parkMessages(pool, SCHEMA, [{ subject: "events", reason, payload: event.body }], now());
  item.isDone = true;
  announceSettled(bus, subject, { listener: FAN_OUT.name, eventIds: [event.id] });
}
