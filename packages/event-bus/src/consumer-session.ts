import { setTimeout as sleep } from "node:timers/promises";
import {
  AckPolicy,
  type ConsumerInfo,
  type ConsumerMessages,
  DeliverPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JsMsg,
} from "@nats-io/jetstream";
import { consumerPending, consumerUnacknowledged } from "@toolgate/telemetry/instruments";
import { atMostEvery } from "@toolgate/telemetry/metrics";
import { type Bus, unlessDisconnected } from "./connect.ts";
import { ensureStream, isStreamNotFound, type StreamName } from "./streams.ts";

export interface ConsumeOptions {
  bus: Bus;
  stream: StreamName;
  /** Name of the consumer, which the replicas of a service share: each message goes to one of them. */
  durable: string;
  filterSubject: string;
  /** Largest batch. As many messages again may wait in this process, and as many in the NATS client. */
  maxMessages: number;
  /** The broker sends a message again when it is not acknowledged within this time. */
  ackWaitMs: number;
  /** Unacknowledged messages over all replicas. */
  maxAckPending: number;
  /**
   * Recreates the consumer at the start and whenever the connection was lost. Unacknowledged messages are then
   * delivered again immediately, including those that a killed broker would otherwise never deliver (seen with 2.9.10).
   * Only for work that may be repeated: a replica may get a message that another still works on. Default false.
   */
  remakeAfterBreak?: boolean;
  signal: AbortSignal;
  onError: (error: unknown) => void;
}

/**
 * `isLive` turns false when the connection breaks or the broker loses the consumer. An acknowledgement names a message by
 * its sequence number alone, and a wiped broker starts numbering again: sent after that, it would remove a new message
 * that nobody has handled.
 */
type OnMessage = (message: JsMsg, isLive: () => boolean) => void | Promise<void>;

const MS_IN_NS = 1_000_000;
const RESTART_WAIT_MS = 250;
const RECONNECT_POLL_MS = 5_000;
const PULL_EXPIRES_MS = 30_000;
const HEARTBEAT_MS = 5_000;
const CONSUMER_EXISTS = 10148;

/**
 * Calls `onMessage` for each message as it arrives; the callee acknowledges it. While a promise that it returned is
 * pending no further message is taken. Ends when the signal fires or the bus is closed, in a new session after each break.
 * Creates stream and consumer when they are missing, also after a wipe of the broker. Never rejects.
 */
export async function consumeMessages(options: ConsumeOptions, onMessage: OnMessage): Promise<void> {
  const { bus, signal, onError, remakeAfterBreak = false } = options;
  using _ = measureConsumer(options);
  let remadeAfter = -1;
  while (!signal.aborted && !bus.nc.isClosed()) {
    await bus.untilConnected(RECONNECT_POLL_MS, signal);
    if (!bus.isConnected()) continue;
    const { breaks } = bus;
    try {
      if (remakeAfterBreak && remadeAfter !== breaks) {
        await removeConsumer(options);
        remadeAfter = breaks;
      }
      await runSession(options, onMessage);
    } catch (error) {
      if (!signal.aborted && bus.isConnected()) onError(error);
    }
    if (!bus.nc.isClosed()) await sleep(RESTART_WAIT_MS, undefined, { signal }).catch(() => {});
  }
}

async function runSession(options: ConsumeOptions, onMessage: OnMessage): Promise<void> {
  const { bus, stream, maxMessages, signal } = options;
  await ensureStream(bus, stream);
  const info = await ensureConsumer(options);
  if (signal.aborted) return;
  const breaksBefore = bus.breaks;
  let lost = false;
  const isLive = () => !lost && bus.isConnected() && bus.breaks === breaksBefore;
  const messages = await bus.js.consumers
    .getConsumerFromInfo(info)
    .consume({ max_messages: maxMessages, expires: PULL_EXPIRES_MS, idle_heartbeat: HEARTBEAT_MS });
  const stop = () => void messages.close();
  const off = bus.onDisconnect(stop);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  void stopWhenGone(messages, () => {
    lost = true;
  });
  try {
    // Messages that have arrived are handed over even after a stop; the broker would send them again only after
    // ackWaitMs.
    for await (const message of messages) {
      const taken = onMessage(message, isLive);
      if (taken) await taken;
    }
  } finally {
    off();
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** A consumer that the broker no longer knows delivers nothing: ends the iteration, so that it is created again. */
async function stopWhenGone(messages: ConsumerMessages, onLost: () => void): Promise<void> {
  const lost = new Set(["consumer_not_found", "stream_not_found", "consumer_deleted", "no_responders"]);
  for await (const { type } of messages.status()) {
    if (lost.has(type)) onLost();
    else if (type !== "heartbeats_missed") continue;
    void messages.close();
    return;
  }
}

/** Its unacknowledged messages stay in the stream, for the next consumer of that name. */
async function removeConsumer({ bus, stream, durable }: ConsumeOptions): Promise<void> {
  await unlessDisconnected(bus, () => bus.jsm.consumers.delete(stream, durable)).catch((error: unknown) => {
    const isMissing = error instanceof JetStreamApiError && error.code === JetStreamApiCodes.ConsumerNotFound;
    if (!isMissing && !isStreamNotFound(error)) throw error;
  });
}

/** Creates the consumer, or updates it to the settings of this version. */
async function ensureConsumer(options: ConsumeOptions): Promise<ConsumerInfo> {
  const { bus, stream, durable, filterSubject, ackWaitMs, maxAckPending } = options;
  const config = {
    durable_name: durable,
    filter_subject: filterSubject,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: ackWaitMs * MS_IN_NS,
    max_ack_pending: maxAckPending,
    max_deliver: -1,
  };
  try {
    return await unlessDisconnected(bus, () => bus.jsm.consumers.add(stream, config));
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code !== CONSUMER_EXISTS) throw error;
    return await unlessDisconnected(bus, () => bus.jsm.consumers.update(stream, durable, config));
  }
}

const MEASURE_EVERY_MS = 5_000;

/** The messages that wait for the consumer, over all replicas. */
function measureConsumer({ bus, stream, durable: consumer }: ConsumeOptions): Disposable {
  const info = atMostEvery(MEASURE_EVERY_MS, () =>
    unlessDisconnected(bus, () => bus.jsm.consumers.info(stream, consumer)),
  );
  const measures = new DisposableStack();
  measures.use(consumerPending.observe(async () => [[(await info()).num_pending, { consumer }]]));
  measures.use(consumerUnacknowledged.observe(async () => [[(await info()).num_ack_pending, { consumer }]]));
  return measures;
}
