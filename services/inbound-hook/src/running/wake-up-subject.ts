import type { WakeUpSubject } from "@toolgate/event-bus/wake-up";
import type { Lane } from "../store/queue.ts";

/** Every runner gets the signals of a lane, because one that has no free slot would not use them. */
export function wakeUpOf(lane: Lane): WakeUpSubject {
  return { subject: `hook-runs.${lane}` };
}
