import type { WakeUpSubject } from "@toolgate/event-bus/wake-up";
import type { Lane } from "../store/queue.ts";

/** New events of one chat, as toolgate.chat.v1.ChatEvents. `chat` is the chat's row, so no user's text is in a subject. */
export function eventsSubject(chat: number): string {
  return `chat.events.${chat}`;
}

/** The ids of turns that are to be stopped, for all workers. */
export const STOP_SUBJECT = "chat.stop";

/** Every worker gets the signals of a lane, because one that has no free slot would not use them. */
export function wakeUpOf(lane: Lane): WakeUpSubject {
  return { subject: `chat.turns.${lane}` };
}
