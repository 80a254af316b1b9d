import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { JetStreamApiError } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import { recordsWaiting } from "@toolgate/telemetry/instruments";
import { type Bus, unlessDisconnected } from "./connect.ts";
import { createGroupCommit, type GroupCommit } from "./group-commit.ts";
import { ensureStream, isStreamNotFound, streamOf } from "./streams.ts";

interface BatchingPublisherOptions<T> {
  bus: Bus;
  subject: string;
  /** Encodes the items of one tick as one message. */
  encode: (items: T[]) => Uint8Array;
  /** Bytes of an item as encoded, roughly: a batch that turns out too large for the broker is split. */
  sizeOf: (item: T) => number;
  maxItems?: number;
  /**
   * How long publishing an item may take, including its wait and restarts of the broker, before it is rejected. Default
   * 10 s.
   */
  deadlineMs?: number;
}

const MAX_ITEMS = 256;
/** The size limit of a batch: half of the broker's default limit. */
export const MAX_MESSAGE_BYTES = 512 * 1024;
const DEADLINE_MS = 10_000;

/** Publishes the items added in one tick as one message; `add` resolves once the broker has written it. */
export function createBatchingPublisher<T>(options: BatchingPublisherOptions<T>): GroupCommit<T> {
  const { bus, subject, encode, sizeOf, maxItems = MAX_ITEMS, deadlineMs = DEADLINE_MS } = options;
  async function publishAll(items: T[], deadlineAtMs: number): Promise<void> {
    const data = encode(items);
    if (items.length > 1 && data.length > MAX_MESSAGE_BYTES) {
      const middle = Math.ceil(items.length / 2);
      await publishAll(items.slice(0, middle), deadlineAtMs);
      return publishAll(items.slice(middle), deadlineAtMs);
    }
    return publishDurably(bus, subject, data, deadlineAtMs - performance.now());
  }
  const group = createGroupCommit<T>({
    maxItems,
    sizeOf,
    maxBytes: MAX_MESSAGE_BYTES,
    // A publish costs far more than an item, so the next batch grows while one is under way.
    maxInFlight: 1,
    commit: (items, openedAtMs) => publishAll(items, openedAtMs + deadlineMs),
  });
  const measure = recordsWaiting.observe(() => [[group.waiting, { subject }]]);
  return {
    add: (item) => group.add(item),
    async [Symbol.asyncDispose]() {
      measure[Symbol.dispose]();
      await group[Symbol.asyncDispose]();
    },
  };
}

const ATTEMPT_TIMEOUT_MS = 2_000;
const RETRY_WAIT_MS = 50;
/** A code of the broker. */
const TOO_LARGE_FOR_STREAM = 10054;

interface DurablePublish {
  /** The broker drops a message whose id it has received within the last two minutes. Default: a random one. */
  messageId?: string;
  /** False: rejects immediately, too, when the stream is full. Default true: waits for room. */
  waitForRoom?: boolean;
}

/**
 * Publishes one message and waits until the broker has written it. Repeats it under the same message id when the
 * connection is lost; creates the stream again after a wipe. Rejects with the last failure after `deadlineMs`, and
 * immediately when repeating cannot help: the message is too large for the broker or its stream, or the bus is closed.
 */
export async function publishDurably(
  bus: Bus,
  subject: string,
  data: Uint8Array,
  deadlineMs = DEADLINE_MS,
  { messageId = randomUUID(), waitForRoom = true }: DurablePublish = {},
): Promise<void> {
  const deadlineAtMs = performance.now() + deadlineMs;
  for (;;) {
    const leftMs = deadlineAtMs - performance.now();
    const timeout = Math.max(1, Math.min(ATTEMPT_TIMEOUT_MS, Math.ceil(leftMs)));
    try {
      await unlessDisconnected(bus, () => bus.js.publish(subject, data, { msgID: messageId, timeout }));
      return;
    } catch (error) {
      if (!waitForRoom && streamIsFull(error)) throw error;
      if (isFinal(error) || bus.nc.isClosed() || performance.now() + RETRY_WAIT_MS >= deadlineAtMs) throw error;
      if (streamIsMissing(error)) await ensureStream(bus, streamOf(subject)).catch(() => {});
      await bus.untilConnected(deadlineAtMs - performance.now() - RETRY_WAIT_MS);
      await sleep(RETRY_WAIT_MS);
    }
  }
}

/** No stream stores the subject: the broker was wiped, or its JetStream is not up yet, which looks the same. */
function streamIsMissing(error: unknown): boolean {
  const { cause } = error as Error;
  return isStreamNotFound(error) || (cause instanceof errors.RequestError && cause.isNoResponders());
}

function streamIsFull(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.message.includes("maximum bytes exceeded");
}

function isFinal(error: unknown): boolean {
  if (error instanceof JetStreamApiError) return error.code === TOO_LARGE_FOR_STREAM;
  return error instanceof errors.InvalidArgumentError || error instanceof errors.InvalidSubjectError;
}
