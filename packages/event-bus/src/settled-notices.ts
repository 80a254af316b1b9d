import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type EventsSettled, EventsSettledSchema } from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import type { Bus } from "./connect.ts";

/** A batch of messages with small events can have tens of thousands; the broker takes 1 MiB. */
const MAX_EVENTS_PER_NOTICE = 10_000;
/** Nobody waits for an outbox row to be deleted, and many of them cost little more than one. */
const GATHER_MS = 250;

/** A settled notice: the events that one listener has in its own database. */
export type SettledNotice = Pick<EventsSettled, "listener" | "eventIds">;

/** Notes that the listener has events in its own database; `subject` is the subject of their message. */
export type NoteSettled = (subject: string, eventIds: readonly string[]) => void;

/** Tells the sources of events, four times a second, what `listener` has noted. Disposing sends the rest. */
export function createSettledNotices(bus: Bus, listener: string): Disposable & { note: NoteSettled } {
  const noted = new Map<string, string[]>();
  let timer: NodeJS.Timeout | undefined;
  function send(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const [subject, eventIds] of noted) announceSettled(bus, subject, { listener, eventIds });
    noted.clear();
  }
  return {
    note(subject, eventIds) {
      noted.set(subject, (noted.get(subject) ?? []).concat(eventIds));
      timer ??= setTimeout(send, GATHER_MS);
    },
    [Symbol.dispose]: send,
  };
}

/**
 * Sends settled notices of a listener. Never throws: a notice that is lost, or not sent because the bus is closed, costs a
 * repeated publish.
 */
export function announceSettled(bus: Bus, subject: string, { listener, eventIds }: SettledNotice): void {
  if (bus.nc.isClosed() || bus.nc.isDraining()) return;
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
  settle: (notice: SettledNotice) => Promise<void>;
  onError: (error: unknown) => void;
}

/** Receives the settled notices of listeners, each in one replica of the source. Disposing waits for those that have come. */
export function receiveSettledNotices({ bus, source, settle, onError }: SettledNoticesOptions): AsyncDisposable {
  const settling = new Set<Promise<void>>();
  const subscription = bus.nc.subscribe(`settled.${source}`, {
    queue: source,
    callback(error, message) {
      try {
        if (error) throw error;
        const settled = settle(fromBinary(EventsSettledSchema, message.data))
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
