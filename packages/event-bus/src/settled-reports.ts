import { setTimeout as sleep } from "node:timers/promises";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { EventsSettledSchema } from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import type { Bus } from "./connect.ts";
import { createGroupCommit } from "./group-commit.ts";

const MAX_REPORTS_PER_BATCH = 200;
/** If all listeners of an event report within this time, its row is deleted without being updated first. */
const GATHER_MS = 50;

/** The events that one listener has in its own database. */
export interface SettledReport {
  listener: string;
  eventIds: string[];
}

/**
 * Tells the source of events that `listener` has them in its own database. `subject` is the subject of their message.
 * Never throws: a report that is lost, or not sent because the bus is closed, costs a repeated publish.
 */
export function reportSettled(bus: Bus, subject: string, { listener, eventIds }: SettledReport): void {
  if (eventIds.length === 0 || bus.nc.isClosed() || bus.nc.isDraining()) return;
  const source = subject.slice("events.".length);
  const report = create(EventsSettledSchema, { eventIds, listener });
  bus.nc.publish(`settled.${source}`, toBinary(EventsSettledSchema, report));
}

interface SettledReportsOptions {
  bus: Bus;
  source: string;
  settle: (reports: SettledReport[]) => Promise<void>;
  onError: (error: unknown) => void;
}

/** Receives the reports of listeners, in batches; each report goes to one replica of the source. */
export function receiveSettledReports({ bus, source, settle, onError }: SettledReportsOptions): AsyncDisposable {
  const group = createGroupCommit<SettledReport>({
    maxItems: MAX_REPORTS_PER_BATCH,
    maxInFlight: 1,
    async commit(reports) {
      await settle(reports);
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
