import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { EventsSettledSchema } from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import type { Bus } from "./connect.ts";

/** A batch of messages with small events can have tens of thousands; the broker takes 1 MiB. */
const MAX_EVENTS_PER_NOTICE = 10_000;
/** Nobody waits for an outbox row to be deleted, and many of them cost little more than one. */
const GATHER_MS = 250;

/** Notes that an event is in the database of its receiver; `subject` is the subject of its message. */
export type NoteSettled = (subject: string, eventId: string) => void;

/**
 * Tells the sources of events, four times a second, what has been noted. A notice that is lost, or not sent because the bus
 * is closed, costs a repeated publish. Disposing sends the rest.
 */
export function createSettledNotices(bus: Bus): Disposable & { note: NoteSettled } {
  const noted = new Map<string, string[]>();
  let timer: NodeJS.Timeout | undefined;
  function send(): void {
    clearTimeout(timer);
    timer = undefined;
    if (!bus.nc.isClosed() && !bus.nc.isDraining())
      for (const [subject, eventIds] of noted) sendNotices(bus, subject.replace("events.", "settled."), eventIds);
    noted.clear();
  }
  return {
    note(subject, eventId) {
      const eventIds = noted.get(subject);
      if (eventIds) eventIds.push(eventId);
      else noted.set(subject, [eventId]);
      timer ??= setTimeout(send, GATHER_MS);
    },
    [Symbol.dispose]: send,
  };
}

function sendNotices(bus: Bus, subject: string, eventIds: readonly string[]): void {
  for (let start = 0; start < eventIds.length; start += MAX_EVENTS_PER_NOTICE) {
    const notice = create(EventsSettledSchema, { eventIds: eventIds.slice(start, start + MAX_EVENTS_PER_NOTICE) });
    bus.nc.publish(subject, toBinary(EventsSettledSchema, notice));
  }
}

interface SettledNoticesOptions {
  bus: Bus;
  source: string;
  settle: (eventIds: readonly string[]) => Promise<void>;
  onError: (error: unknown) => void;
}

/** Receives the settled notices about a source's events, each in one replica of it. Disposing waits for those that have come. */
export function receiveSettledNotices({ bus, source, settle, onError }: SettledNoticesOptions): AsyncDisposable {
  const settling = new Set<Promise<void>>();
  const subscription = bus.nc.subscribe(`settled.${source}`, {
    queue: source,
    callback(error, message) {
      try {
        if (error) throw error;
        const settled = settle(fromBinary(EventsSettledSchema, message.data).eventIds)
          .catch(onError)
          .finally(() => settling.delete(settled));
        settling.add(settled);
      } catch (failure) {
        onError(failure);
      }
    },
  });
  return {
    async [Symbol.asyncDispose]() {
      if (!bus.nc.isClosed()) subscription.unsubscribe();
      await Promise.all(settling);
    },
  };
}
