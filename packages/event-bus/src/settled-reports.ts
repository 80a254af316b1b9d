import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { EventsSettledSchema } from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import type { Bus } from "./connect.ts";
import { createGroupCommit } from "./group-commit.ts";

const MAX_REPORTS_PER_BATCH = 200;

function settledSubject(source: string): string {
  return `settled.${source}`;
}

/** Sends one report. What is lost on the way, or not sent because the bus is closed, costs a repeated publish. */
export function sendSettled(bus: Bus, source: string, eventIds: string[]): void {
  if (bus.nc.isClosed() || bus.nc.isDraining()) return;
  bus.nc.publish(settledSubject(source), toBinary(EventsSettledSchema, create(EventsSettledSchema, { eventIds })));
}

export interface SettledListenerOptions {
  bus: Bus;
  source: string;
  /** Removes events that are safe with their consumer. */
  forget: (eventIds: string[]) => Promise<void>;
  onError: (error: unknown) => void;
}

/** Hands on what consumers report as safe, in batches; each report goes to one replica. */
export function listenForSettled({ bus, source, forget, onError }: SettledListenerOptions): AsyncDisposable {
  const group = createGroupCommit<string[]>({
    maxItems: MAX_REPORTS_PER_BATCH,
    maxInFlight: 1,
    commit: (idLists) => forget(idLists.flat()),
  });
  const subscription = bus.nc.subscribe(settledSubject(source), {
    queue: source,
    callback(error, message) {
      try {
        if (error) throw error;
        group.add(fromBinary(EventsSettledSchema, message.data).eventIds).catch(onError);
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
