import type { Bus } from "@toolgate/event-bus/connect";
import { createAnnouncer, type WakeUpSubject } from "@toolgate/event-bus/wake-up";
import type { Lane } from "../store/queue.ts";

/** The ids of turns to stop, for all workers. */
export const STOP_SUBJECT = "chat.stop";

/** Every worker gets each signal: if only one did, it might have no free slot and the signal would be wasted. */
export function wakeUpOf(lane: Lane): WakeUpSubject {
  return { subject: `chat.turns.${lane}` };
}

/** Wakes the workers of a lane: a turn may start. */
export type AnnounceTurns = (lane: Lane) => void;

export function createAnnounceTurns(bus: Bus): AnnounceTurns {
  const announce = { chat: createAnnouncer(bus, wakeUpOf("chat")), hook: createAnnouncer(bus, wakeUpOf("hook")) };
  return (lane) => announce[lane]();
}
