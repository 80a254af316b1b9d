import { setTimeout as sleep } from "node:timers/promises";
import { AckPolicy, DeliverPolicy, JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream";
import { type Bus, unlessDisconnected } from "@toolgate/event-bus/connect";
import type { DurableConsumer } from "@toolgate/service-registry/server-users";

/** A process asks for messages again as soon as its last request has ended. */
const LOOKS = 10;
const LOOK_EVERY_MS = 200;

/**
 * What is wrong with a consumer, in words; nothing if it gets the right messages and a process takes them. Rejects while
 * the broker is down.
 */
export async function consumerFaults(bus: Bus, { stream, durable, filter }: DurableConsumer): Promise<string[]> {
  const look = () =>
    unlessDisconnected(bus, () => bus.jsm.consumers.info(stream, durable)).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
  let info = await look();
  for (let looks = 1; info && info.num_waiting === 0 && looks < LOOKS; looks += 1) {
    await sleep(LOOK_EVERY_MS);
    info = await look();
  }
  if (!info) return ["does not exist"];
  const { config } = info;
  const wanted = {
    filter_subject: filter,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    max_deliver: -1,
  };
  const faults = Object.entries(wanted)
    .filter(([key, value]) => config[key as keyof typeof config] !== value)
    .map(([key, value]) => `has ${key} ${config[key as keyof typeof config]} instead of ${value}`);
  if (info.num_waiting === 0) faults.push(`is read by no process; ${info.num_pending} messages wait`);
  return faults;
}

function isMissing(error: unknown): boolean {
  if (!(error instanceof JetStreamApiError)) return false;
  return error.code === JetStreamApiCodes.ConsumerNotFound || error.code === JetStreamApiCodes.StreamNotFound;
}
