import { setTimeout as sleep } from "node:timers/promises";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { EventsSettledSchema } from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import type { Bus } from "./connect.ts";
import { createGroupCommit } from "./group-commit.ts";

const MAX_NOTICES_PER_BATCH = 200;
/** A batch of messages with small events can have tens of thousands; the broker takes 1 MiB. */
const MAX_EVENTS_PER_NOTICE = 10_000;
/**
 * If the settled notices of all listeners of an event arrive within this time, its row is deleted without being
 * updated first.
 */
const GATHER_MS = 50;

/** A settled notice: the events that one listener has in its own database. */
export interface SettledNotice {
  listener: string;
  eventIds: string[];
}

/**
 * Tells the source of events that `listener` has them in its own database. `subject` is the subject of their message.
 * Never throws: a notice that is lost, or not sent because the bus is closed, costs a repeated publish.
 */
export function announceSettled(bus: Bus, subject: string, { listener, eventIds }: SettledNotice): void {
  if (eventIds.length === 0 || bus.nc.isClosed() || bus.nc.isDraining()) return;
  const source = subject.slice("events.".length);
  for (let start = 0; start < eventIds.length; start += MAX_EVENTS_PER_NOTICE) {
    const part = eventIds.slice(start, start + MAX_EVENTS_PER_NOTICE);
    const notice = create(EventsSettledSchema, { eventIds: part, listener });
    bus.nc.publish(`settled.${source}`, toBinary(EventsSettledSchema, notice));
  }
}

interface SettledNoticesOptions {
  bus: Bus;
  source: string;
  settle: (notices: SettledNotice[]) => Promise<void>;
  onError: (error: unknown) => void;
}

/** Receives the settled notices of listeners. `settle` gets them in batches, each in one replica of the source. */
export function receiveSettledNotices(options: SettledNoticesOptions): AsyncDisposable {
  const { bus, source, settle, onError } = options;
  const group = createGroupCommit<SettledNotice>({
    maxItems: MAX_NOTICES_PER_BATCH,
    maxInFlight: 1,
    async commit(notices) {
      await settle(notices);
      await sleep(GATHER_MS);
    },
  });
  const subscription = bus.nc.subscribe(`settled.${source}`, {
    queue: source,
    callback(error, message) {
      try {
        if (error) throw error;
        group.add(fromBinary(EventsSettledSchema, message.data)).catch(onError);
      } catch (failure) {
        onError(failure);
      }
    },
  });
  return {
    async [Symbol.asyncDispose]() {
      if (!bus.nc.isClosed()) subscription.unsubscribe();
      await group[Symbol.asyncDispose]();
    },
  };
}
